from __future__ import annotations

from typing import Any

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.embedders.texts import checked_texts


def test_texts_come_back_as_a_list() -> None:
    assert checked_texts(("a", "", "é")) == ["a", "", "é"]


def test_one_string_is_not_a_list_of_texts() -> None:
    with pytest.raises(InvalidInputError, match="got one string"):
        checked_texts("secret")


@pytest.mark.parametrize("wrong", [None, 3, b"bytes"])
def test_what_is_no_string_is_named_by_its_row(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="row 1 must be a string"):
        checked_texts(["a", wrong])


def test_half_a_surrogate_pair_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidInputError, match="row 2 holds half a surrogate pair") as caught:
        checked_texts(["a", "b", "secret \ud800"])
    assert "secret" not in str(caught.value)
