from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from vecveil.concepts.settings import check_keys, check_names, check_value, to_keywords, to_settings
from vecveil.core.errors import InvalidInputError, UnknownNameError


@dataclass(frozen=True, kw_only=True)
class _Toy:
    kind: ClassVar[str] = "toy"

    some_words: tuple[str, ...]
    at_most: int = 3
    share: float = 0.5
    loud: bool = False
    label: str | None = None
    by_label: Mapping[str, str | Sequence[str]] | None = None


def test_only_what_differs_from_the_defaults_is_written_with_hyphens() -> None:
    assert to_settings(_Toy(some_words=("a",))) == {"kind": "toy", "some-words": ["a"]}
    assert to_settings(_Toy(some_words=("a", "b"), at_most=4, loud=True, label="X")) == {
        "kind": "toy",
        "some-words": ["a", "b"],
        "at-most": 4,
        "loud": True,
        "label": "X",
    }


def test_a_list_of_one_pattern_is_written_as_the_pattern() -> None:
    written = to_settings(_Toy(some_words=("a",), by_label={"ONE": ("x",), "TWO": ("x", "y")}))
    assert written["by-label"] == {"ONE": "x", "TWO": ["x", "y"]}


def test_a_table_becomes_keywords_of_the_right_types() -> None:
    found = to_keywords(_Toy, {"some-words": ["a", "b"], "share": 1, "label": "X"})
    assert found == {"some_words": ("a", "b"), "share": 1.0, "label": "X"}
    assert isinstance(found["share"], float)


def test_a_missing_setting_is_named() -> None:
    with pytest.raises(InvalidInputError, match="setting 'some-words' is missing"):
        to_keywords(_Toy, {"loud": True})


def test_an_unknown_setting_gets_a_guess_unless_it_is_named_as_extra() -> None:
    with pytest.raises(UnknownNameError, match="unknown setting 'some_words'; did you mean 'some-words'"):
        check_keys(_Toy, {"some_words": ["a"]})
    check_keys(_Toy, {"file": "a.txt"}, extra=("file",))


@pytest.mark.parametrize(
    ("value", "expected", "message"),
    [
        (3, str, "'key' must be a string, got int"),
        (1, bool, "'key' must be true or false, got int"),
        (True, int, "'key' must be a whole number, got bool"),
        (True, float, "'key' must be a number, got bool"),
        ("a", tuple[str, ...], "'key' must be a list of strings, got str"),
        (["secret", 3], tuple[str, ...], "'key' must be a list of strings, got int as item 2"),
        ({"A": ["secret", 3]}, Mapping[str, str | Sequence[str]], r"'key\.A' must be .*, got int as item 2"),
    ],
)
def test_a_value_of_another_type_is_told_by_its_key_and_type_alone(value: Any, expected: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        check_value(value, expected, "key")
    assert "secret" not in str(caught.value)


def test_patterns_may_be_given_alone_or_in_lists() -> None:
    given = {"ONE": "x", "TWO": ["x", "y"]}
    assert check_value(given, Mapping[str, str | Sequence[str]], "key") == {"ONE": ("x",), "TWO": ("x", "y")}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("secret", "every term as a string, got one string"),
        ((), "at least one term is needed, got none"),
        (("secret", 3), "term 2 must be a string, got int"),
        (("secret", " "), "term 2 of 2 is blank"),
    ],
)
def test_names_that_say_nothing_are_told_by_position(values: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        check_names(values, "term")
    assert "secret" not in str(caught.value)


def test_names_may_be_none_where_that_is_allowed() -> None:
    assert check_names([], "label", allow_none=True) == ()
    assert check_names(["a", "b"], "label") == ("a", "b")
