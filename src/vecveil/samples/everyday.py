"""Words that belong to no specialty: names, relatives, cities, days, meals.

No real person is meant: first names and surnames are combined at random.
"""

from typing import Final

WOMEN: Final = (
    "Abena", "Aiko", "Alejandra", "Amara", "Anjali", "Beatriz", "Chiara", "Deborah", "Dilnoza", "Eleni",
    "Fatima", "Freya", "Gulnara", "Hannah", "Ingrid", "Jasmine", "Katarzyna", "Leilani", "Lucía", "Mei",
    "Nadia", "Ngozi", "Olga", "Priya", "Rebecca", "Shira", "Siobhan", "Thandiwe", "Yasmin", "Zoë",
)  # fmt: skip

MEN: Final = (
    "Ahmed", "Alessandro", "Arjun", "Babak", "Bogdan", "Carlos", "Daniel", "Dmitri", "Emeka", "Felipe",
    "Giorgos", "Hiroshi", "Ibrahim", "Jamal", "José", "Kofi", "Kwame", "Liam", "Mateo", "Minh",
    "Nikolai", "Omar", "Patrick", "Rajesh", "Samuel", "Søren", "Tariq", "Tomasz", "Viktor", "Wei",
)  # fmt: skip

SURNAMES: Final = (
    "Abdullah", "Achterberg", "Adeyemi", "Almeida", "Andersson", "Banerjee", "Bianchi", "Boateng", "Callahan",
    "Castillo", "Chaudhry", "Chen", "Delacroix", "Demir", "Dlamini", "Eriksen", "Farouk", "Ferrari", "Fitzgerald",
    "Gonzalez", "Gupta", "Haddad", "Hakimi", "Hoffmann", "Horvath", "Ibarra-Reed", "Jankowski", "Kamau", "Kapoor",
    "Kaya", "Kowalczyk", "Kuznetsov", "Larsen", "Lindqvist", "MacLeod", "Mbeki", "Mendoza", "Moreau", "Murphy",
    "Nakamura", "Nguyen", "Novak", "O'Connor", "Okafor", "Okonkwo", "Oyelaran", "Papadakis", "Petrov", "Rahimi",
    "Ramirez", "Rossi", "Sato", "Schneider", "Sokolov", "Tanaka", "Tran", "Van Dijk", "Whitaker", "Yilmaz", "Zhang",
)  # fmt: skip

CITIES: Final = (
    "Accra", "Albuquerque", "Amsterdam", "Athens", "Atlanta", "Austin", "Baltimore", "Bangkok", "Barcelona",
    "Boston", "Bratislava", "Brisbane", "Brussels", "Buffalo", "Cairo", "Cape Town", "Chicago", "Cleveland",
    "Copenhagen", "Dallas", "Denver", "Detroit", "Dublin", "Edinburgh", "Glasgow", "Hamburg", "Hanoi", "Helsinki",
    "Houston", "Istanbul", "Jakarta", "Kansas City", "Kraków", "Kyoto", "Leeds", "Lisbon", "Manila", "Marseille",
    "Melbourne", "Memphis", "Milwaukee", "Minneapolis", "Montreal", "Nairobi", "New Orleans", "Oakland", "Oslo",
    "Ottawa", "Philadelphia", "Pittsburgh", "Portland", "Prague", "Salt Lake City", "San Diego", "São Paulo",
    "Seattle", "Seoul", "Stockholm", "Toronto", "Tucson", "Vancouver", "Warsaw",
)  # fmt: skip

# Who drives, calls and visits depends on how old the patient is.
RELATIVES_OF_CHILDREN: Final = ("mother", "father", "grandmother", "grandfather", "aunt", "uncle")
RELATIVES_OF_ADULTS: Final = ("sister", "brother", "cousin", "partner", "spouse")
RELATIVES_OF_SENIORS: Final = ("daughter", "son", "niece", "nephew", "granddaughter", "grandson")

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

HOURS: Final = ("8:15", "8:45", "9:30", "10:00", "10:40", "11:20", "12:30", "1:45", "2:15", "3:00", "4:10", "5:30")

COUNTS: Final = ("two", "three", "four", "five", "six")

MEALS: Final = (
    "oatmeal", "vegetable soup", "rice with lentils", "grilled fish", "baked potatoes", "yogurt with berries",
    "chicken broth", "whole-grain toast", "pasta salad", "scrambled eggs", "bean stew", "fruit salad",
)  # fmt: skip

HOBBIES: Final = (
    "chess", "painting", "long walks", "board games", "singing", "birdwatching", "crossword puzzles", "swimming",
    "baking bread", "photography",
)  # fmt: skip
