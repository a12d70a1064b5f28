"""Candidates of frameworks: which seal or text stands for each, and errors that name the row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.guards import TEXTS
from support.veils import PRIVATE_WORD
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.core.key import Key
from vecveil.integrations.reranking import drop_seal, read_candidates
from vecveil.veil import Guard
from vecveil.veil.seal import write_as_text

IDS = ["a", "b", "c"]


@pytest.fixture
def seals(guard: Guard) -> list[str]:
    """Seals of the texts."""
    return [write_as_text(one) for one in guard.seal_texts(TEXTS, IDS)]


def test_a_seal_goes_before_a_text_and_is_dropped_behind_the_reranking(seals: list[str]) -> None:
    fields: list[Any] = [{"seal": seals[0], "page": 1}, None, {"seal": b"bytes"}]
    assert read_candidates(fields, TEXTS) == [seals[0], TEXTS[1], b"bytes"]
    assert read_candidates([{"own": seals[0]}], [None], seal_field="own") == [seals[0]]
    assert drop_seal({"seal": seals[0], "page": 1}) == {"page": 1}


@pytest.mark.parametrize(
    ("fields", "texts", "said"),
    [
        ([{}, {}], ["rain", None], "row 1 has neither a seal nor a text"),
        ([{}, None], ["rain", "  "], "row 1 has neither a seal nor a text"),
        ([{}, {"seal": ""}], ["rain", "sun"], "row 1 has something else than a seal in its field 'seal'"),
        ([{}, {"seal": PRIVATE_WORD}], ["rain", "sun"], "row 1 has something else than a seal in its field 'seal'"),
        ([{}, {"seal": 7}], ["rain", "sun"], "row 1 has something else than a seal in its field 'seal'"),
    ],
)
def test_a_row_without_a_seal_or_a_text_is_named(fields: Any, texts: Any, said: str) -> None:
    with pytest.raises(InvalidRowError, match=said) as raised:
        read_candidates(fields, texts)
    assert PRIVATE_WORD not in str(raised.value)


def test_what_opens_no_seal_is_an_error_that_names_the_row(guard: Guard, seals: list[str]) -> None:
    broken = seals[1][:40] + ("B" if seals[1][40] == "A" else "A") + seals[1][41:]
    for wrong, ids, candidates in (
        (replace(guard, key=Key.new()), IDS, [TEXTS[0], *seals[1:]]),
        (replace(guard, seal_key=Key.new()), IDS, [TEXTS[0], *seals[1:]]),
        (replace(guard, veil=replace(guard.opened_veil, epsilon=7.0)), IDS, [TEXTS[0], *seals[1:]]),
        (guard, ["a", "x", "c"], seals),
        (guard, IDS, [seals[0], broken, seals[2]]),
        (guard, IDS, [TEXTS[0], broken, TEXTS[2]]),
    ):
        with pytest.raises(InvalidRowError, match="row 1 has a seal that does not open"):
            wrong.rerank("rain", ids, candidates)
    with pytest.raises(InvalidRowError, match="row 1 has no id, but NoneType"):
        guard.rerank("rain", [None, None, None], [TEXTS[0], *seals[1:]])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="seals need a key"):
        replace(guard, key=None).rerank("rain", IDS, seals)
    with pytest.raises(InvalidRowError, match="row 2 has neither a seal nor a text"):
        guard.rerank("rain", IDS, [*TEXTS[:2], " "])
