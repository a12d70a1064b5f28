"""Every registered rewriter keeps the contract of `vecveil.testing.rewriters`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from vecveil.concepts import Passage, terms
from vecveil.concepts.rewriting import REWRITERS, Redact, build_rewriter
from vecveil.testing.rewriters import check_rewriter

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "random-replacement": [{}, {"rounds": 1}],
    "remove": [{}],
    "semantic-replacement": [{}],
}

IN_INTEGRATION = ["remove-pii"]
"""Rewriters that need real weights."""

_COUNT = count()
_CONCEPT = terms("Angela Merkel", "Barack Obama")
_TEXTS = {
    "positive": Passage("Angela Merkel spoke in the garden."),
    "all_private": Passage("Barack Obama."),
    "negative": Passage("The cat slept  again , and purred."),
}


def test_every_registered_rewriter_is_covered() -> None:
    assert sorted([*SETTINGS, *IN_INTEGRATION]) == REWRITERS.names()


@pytest.mark.parametrize("name", SETTINGS)
def test_rewriter_keeps_the_contract(name: str) -> None:
    for settings in SETTINGS[name]:
        check_rewriter(build_rewriter(name, settings), _CONCEPT, **_TEXTS)


@pytest.mark.parametrize(
    ("broken", "fact"),
    [
        (lambda _, passages, *__: [passage.text for passage in passages], "private must not stay"),
        (lambda _, passages, *__: [""] * len(passages), "nothing is found must stay"),
        (lambda *_: ["a"], "one text for each"),
        (lambda _, passages, *__: [str(next(_COUNT)) for _ in passages], "same generator state"),
        (
            lambda _, passages, *__: ["" if "Obama" in p.text else p.text.replace("Angela", "A.") for p in passages],
            "must not become empty",
        ),
    ],
)
def test_a_rewriter_that_breaks_the_contract_is_caught(
    broken: Callable[..., Any], fact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Redact, "rewrite", broken)
    with pytest.raises(AssertionError, match=fact):
        check_rewriter(Redact(), _CONCEPT, **_TEXTS)
