"""Facts of one imagined case: the words that fill a frame's slots."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from vecveil.samples import everyday
from vecveil.samples.lexicon import Topic

T = TypeVar("T")


@dataclass(frozen=True)
class Picker:
    """Makes choices by the hash of a key and of what is being chosen.

    They come out the same on every machine: the streams of random generators may change between versions, SHA-256 may
    not. And since each choice has a name, a choice that is added later leaves the others as they were.
    """

    key: str

    def number(self, what: str, size: int) -> int:
        """Return a whole number from 0 to `size` (exclusive)."""
        digest = hashlib.sha256(f"{self.key}/{what}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % size

    def one(self, what: str, options: Sequence[T]) -> T:
        """Return one of `options`."""
        return options[self.number(what, len(options))]

    def two(self, what: str, options: Sequence[T]) -> tuple[T, T]:
        """Return two different places of `options`."""
        first = self.number(what, len(options))
        step = 1 + self.number(f"other {what}", len(options) - 1)
        return options[first], options[(first + step) % len(options)]


@dataclass(frozen=True)
class Fact:
    """Words for one slot.

    Attributes:
        text: The words.
        label: The category of the span that they make; none where None.
        lead: Words before them that the span leaves out, as "Mr. " before a name.
    """

    text: str
    label: str | None = None
    lead: str = ""


Facts: TypeAlias = dict[str, Fact]


def imagine_case(topic: Topic, picker: Picker) -> Facts:
    """Return a fact for every slot that a frame may have, all of them of one patient of `topic`."""
    female = topic.women_only or picker.one("female", (False, True))
    age = topic.youngest + picker.number("age", topic.oldest - topic.youngest + 1)
    return {
        **_person(picker, female=female, age=age),
        **_age(age),
        **_medicine(topic, picker),
        **_surroundings(picker),
    }


def _person(picker: Picker, *, female: bool, age: int) -> Facts:
    first = picker.one("first name", everyday.WOMEN if female else everyday.MEN)
    surname, doctor = picker.two("surname", everyday.SURNAMES)
    child, senior = age < 16, age > 65
    relatives = everyday.RELATIVES_OF_SENIORS if senior else everyday.RELATIVES_OF_ADULTS
    adult = Fact(surname, "NAME", lead="Ms. " if female else "Mr. ")
    city, other_city = picker.two("city", everyday.CITIES)
    return {
        "name": Fact(f"{first} {surname}", "NAME"),
        "first": Fact(first, "NAME"),
        "patient": Fact(first, "NAME") if child else adult,
        "doctor": Fact(doctor, "NAME", lead="Dr. "),
        "sex": Fact(_noun(female=female, child=child), "SEX"),
        "gender": Fact("female" if female else "male", "SEX"),
        "he": Fact("she" if female else "he"),
        "his": Fact("her" if female else "his"),
        "relative": Fact(picker.one("relative", everyday.RELATIVES_OF_CHILDREN if child else relatives)),
        "city": Fact(city, "CITY"),
        "other_city": Fact(other_city, "CITY"),
    }


def _noun(*, female: bool, child: bool) -> str:
    if child:
        return "girl" if female else "boy"
    return "woman" if female else "man"


def _age(age: int) -> Facts:
    return {
        "year_old": Fact(f"{age}-year-old", "AGE"),
        "years_old": Fact(f"{age} years old", "AGE"),
        "aged": Fact(f"aged {age}", "AGE"),
        "age": Fact(f"age {age}", "AGE"),
        "years": Fact(f"{age}", "AGE"),
    }


def _medicine(topic: Topic, picker: Picker) -> Facts:
    disease, other_disease = picker.two("disease", topic.diseases)
    symptom, other_symptom = picker.two("symptom", topic.symptoms)
    medication, other_medication = picker.two("medication", topic.medications)
    return {
        "disease": Fact(disease, "DISEASE"),
        "other_disease": Fact(other_disease, "DISEASE"),
        "symptom": Fact(symptom, "SYMPTOM"),
        "other_symptom": Fact(other_symptom, "SYMPTOM"),
        "medication": Fact(medication, "MEDICATION"),
        "other_medication": Fact(other_medication, "MEDICATION"),
        "ward": Fact(topic.name),
        "specialist": Fact(topic.specialist),
        "test": Fact(picker.one("test", topic.tests)),
        "procedure": Fact(picker.one("procedure", topic.procedures)),
        "measure": Fact(picker.one("measure", topic.measures)),
        "aid": Fact(picker.one("aid", topic.aids)),
    }


def _surroundings(picker: Picker) -> Facts:
    meal, other_meal = picker.two("meal", everyday.MEALS)
    return {
        "weekday": Fact(picker.one("weekday", everyday.WEEKDAYS)),
        "month": Fact(picker.one("month", everyday.MONTHS)),
        "day": Fact(str(1 + picker.number("day", 28))),
        "hour": Fact(picker.one("hour", everyday.HOURS)),
        "count": Fact(picker.one("count", everyday.COUNTS)),
        "room": Fact(str(101 + picker.number("room", 60))),
        "meal": Fact(meal),
        "other_meal": Fact(other_meal),
        "hobby": Fact(picker.one("hobby", everyday.HOBBIES)),
    }
