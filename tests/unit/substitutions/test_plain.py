from __future__ import annotations

import math

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.substitutions.plain import Keep, Placeholder, Remove


def test_what_is_kept_tells_everything_and_what_is_gone_nothing() -> None:
    assert (Keep().word_epsilon, Remove().word_epsilon, Placeholder().word_epsilon) == (math.inf, 0.0, 0.0)
    assert Keep().outcomes("X", "gout") == {"gout": 1.0}
    assert Remove().outcomes("X", "gout") == {"": 1.0}


@pytest.mark.parametrize(("label", "phrase"), [("PERSON", "someone"), ("LAB_VALUE", "lab value"), ("X", "this")])
def test_a_placeholder_depends_on_the_category_alone(label: str, phrase: str) -> None:
    law = Placeholder(phrases={"X": "this"})
    assert law.outcomes(label, "a") == law.outcomes(label, "b") == {phrase: 1.0}


def test_a_phrase_must_say_something() -> None:
    with pytest.raises(InvalidInputError, match="phrase of 'X'"):
        Placeholder(phrases={"X": " "})
