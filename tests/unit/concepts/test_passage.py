from __future__ import annotations

from typing import Any

import pytest

from vecveil.concepts.passage import Passage, passages
from vecveil.concepts.span import Span
from vecveil.core.errors import InvalidInputError


def test_an_annotation_after_the_end_is_an_error_that_holds_no_text() -> None:
    with pytest.raises(InvalidInputError, match="its text of 6 characters") as caught:
        Passage("secret", (Span(3, 7, "X"),))
    assert "secret" not in str(caught.value)


def test_strings_become_passages_and_passages_stay() -> None:
    marked = Passage("gout", (Span(0, 4, "X"),))
    assert passages(["well", marked]) == [Passage("well"), marked]


def test_one_string_is_not_a_list_of_texts() -> None:
    with pytest.raises(InvalidInputError, match="put it into a list"):
        passages("gout")


def test_a_text_that_is_no_string_is_told_by_its_number() -> None:
    texts: list[Any] = ["well", None]
    with pytest.raises(InvalidInputError, match="text 1 must be a string, got NoneType"):
        passages(texts)
