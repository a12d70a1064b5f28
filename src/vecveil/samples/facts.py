"""The facts of one imagined case, as the words that fill the slots of a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from vecveil.samples import everyday, people
from vecveil.samples.picker import Picker
from vecveil.samples.topic import Topic


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


def case_facts(topic: Topic, picker: Picker) -> Facts:
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
    first = picker.one("first name", people.WOMEN if female else people.MEN)
    surname, doctor = picker.two("surname", people.SURNAMES)
    child, senior = age < 16, age > 65
    relatives = people.RELATIVES_OF_SENIORS if senior else people.RELATIVES_OF_ADULTS
    adult = Fact(surname, "NAME", lead="Ms. " if female else "Mr. ")
    city, other_city = picker.two("city", people.CITIES)
    return {
        "name": Fact(f"{first} {surname}", "NAME"),
        "first": Fact(first, "NAME"),
        "patient": Fact(first, "NAME") if child else adult,
        "doctor": Fact(doctor, "NAME", lead="Dr. "),
        "sex": Fact(_noun(female=female, child=child), "SEX"),
        "gender": Fact("female" if female else "male", "SEX"),
        "he": Fact("she" if female else "he"),
        "his": Fact("her" if female else "his"),
        "relative": Fact(picker.one("relative", people.RELATIVES_OF_CHILDREN if child else relatives)),
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
