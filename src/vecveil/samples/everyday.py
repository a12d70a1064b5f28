"""Words of hospital life that belong to no specialty and to no concept."""

from __future__ import annotations

from typing import Final

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
