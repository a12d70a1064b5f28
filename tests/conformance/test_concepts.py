from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.spacy_pipeline import write_pipeline
from support.token_classifier import write_token_classifier
from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage, Span
from vecveil.concepts.terms import Terms
from vecveil.concepts.toml_file import CONCEPTS
from vecveil.testing.concepts import check_concept

_NEGATIVE = Passage("It was warm  again , and the cat slept.")
_NOTHING_AT_ALL = Passage("It wasn't  so again , and they were all on it.")


def _token_classification(folder: Path) -> dict[str, Any]:
    write_token_classifier(folder, labels={"gout": "B-Disease", "has": "O", "he": "O", ".": "O"})
    return {"labels": ["Disease"], "model": str(folder)}


def _entities(folder: Path) -> dict[str, Any]:
    pipeline = write_pipeline(folder / "pipeline", {"Angela Merkel": "PERSON", "Berlin": "GPE"})
    return {"labels": ["PERSON", "GPE"], "model": pipeline}


_IN_INTEGRATION = ["presidio"]
"""Kinds that need real weights."""

_SETTINGS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "annotated": lambda _: {"labels": ["Disease"]},
    "content-words": lambda _: {"at-least": 4, "share": 0.25},
    "entities": _entities,
    "patterns": lambda _: {"patterns": {"AGE": r"\d+ years", "ID": ["#\\d+", "N\\d"]}, "timeout": 5},
    "terms": lambda _: {"terms": ["heart failure", "gout"], "label": "DISEASE"},
    "token-classification": _token_classification,
}

_POSITIVE = {
    "annotated": Passage("He has gout.", (Span(7, 11, "Disease"),)),
    "content-words": Passage("He has gout, and heart\nfailure at 68."),
    "entities": Passage("Angela Merkel flew to Berlin."),
    "patterns": Passage("She is 40 years old, case #17."),
    "terms": Passage("He has gout and heart\nfailure."),
    "token-classification": Passage("He has gout."),
}


def _build(name: str, folder: Path) -> Concept:
    return CONCEPTS.load(name).from_settings(_SETTINGS[name](folder), folder)


@pytest.mark.parametrize("name", _SETTINGS)
def test_every_concept_keeps_the_contract(name: str, tmp_path: Path) -> None:
    concept = _build(name, tmp_path)
    assert concept.kind == name
    negative = _NOTHING_AT_ALL if name == "content-words" else _NEGATIVE
    check_concept(concept, positive=_POSITIVE[name], negative=negative)


def test_a_union_keeps_the_contract(tmp_path: Path) -> None:
    union = _build("terms", tmp_path) | _build("patterns", tmp_path)
    check_concept(union, positive=Passage("Gout at 40 years."), negative=_NEGATIVE)


def test_every_registered_concept_has_settings_here() -> None:
    assert _SETTINGS.keys() == _POSITIVE.keys()
    assert sorted([*_SETTINGS, *_IN_INTEGRATION]) == CONCEPTS.names()


_BEYOND = (Span(0, 1000, "X"),)
_SWAPPED = (Span(7, 11, "X"), Span(0, 2, "X"))


@pytest.mark.parametrize(
    ("method", "broken", "fact"),
    [
        ("find_all", lambda _, passages: [()] * len(passages), "positive text holds"),
        ("find_all", lambda _, passages: [_SWAPPED if "gout" in p.text else () for p in passages], "in order"),
        ("find_all", lambda _, passages: [_BEYOND if "gout" in p.text else () for p in passages], "within their text"),
        ("find_all", lambda *_: [()], "one result for each passage"),
        ("find", lambda *_: (), "find and find_all agree"),
        ("search", lambda _, passages: ([()] * len(passages),) * 2, "search and find_all agree"),
        ("search", lambda self, passages: (self.find_all(passages), [()] * len(passages)), "takes something out"),
        ("remove", lambda _, passage: passage.text, "shorter"),
        ("remove", lambda _, passage: passage.text[1:], "nothing of the concept is found after its removal"),
        ("summary", lambda self: {"terms": self.terms}, "summary does not show"),
        ("settings", lambda _: {"kind": "terms", "terms": ["gout"]}, "survives TOML"),
    ],
)
def test_a_concept_that_breaks_the_contract_is_caught(
    method: str, broken: Callable[..., Any], fact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    concept, positive = Terms(terms=("gout",), label="DISEASE"), Passage("He has gout.")
    check_concept(concept, positive=positive, negative=_NEGATIVE)
    monkeypatch.setattr(Terms, method, broken)
    with pytest.raises(AssertionError, match=fact):
        check_concept(concept, positive=positive, negative=_NEGATIVE)


def test_a_negative_text_that_holds_the_concept_is_caught() -> None:
    with pytest.raises(AssertionError, match="negative text does not hold"):
        check_concept(Terms(terms=("gout", "cat")), positive=Passage("He has gout."), negative=_NEGATIVE)
