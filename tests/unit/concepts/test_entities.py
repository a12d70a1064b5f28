from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.spacy_pipeline import write_pipeline
from vecveil.concepts.entities import Entities, _list_unneeded, load_pipeline
from vecveil.concepts.passage import Passage, Span
from vecveil.core.errors import InvalidInputError, MissingExtraError, UnknownNameError

_RULES = {"gout": "DISEASE", "Rome": "PLACE", "Anna": "PERSON"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_pipeline(tmp_path_factory.mktemp("pipeline"), _RULES)


def test_only_the_named_labels_are_found(model: str) -> None:
    passages = [Passage("Anna has gout in Rome."), Passage(""), Passage("Nothing here.")]
    found = Entities(labels=("PERSON", "PLACE"), model=model).find_all(passages)
    assert found == [(Span(0, 4, "PERSON"), Span(17, 21, "PLACE")), (), ()]
    assert Entities(labels=("DISEASE",), model=model).remove("He has gout now") == "He has now"


def test_offsets_count_characters_also_after_an_emoji_and_half_a_surrogate_pair(model: str) -> None:
    text = "👩‍⚕️ \ud800 met Anna"
    assert Entities(labels=("PERSON",), model=model).find(text) == (Span(len(text) - 4, len(text), "PERSON"),)


def test_a_pipeline_is_loaded_once(model: str) -> None:
    assert load_pipeline(model) is load_pipeline(model)


def test_a_rule_may_look_at_anything_so_nothing_is_left_out(model: str) -> None:
    assert _list_unneeded(load_pipeline(model)) == []


def test_an_unknown_label_gets_a_guess(model: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown entity label 'PERSONS'; did you mean 'PERSON'"):
        Entities(labels=("PERSONS",), model=model).find("x")


def test_a_text_that_is_too_long_is_told_by_its_length(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_pipeline(model), "max_length", 10)
    with pytest.raises(InvalidInputError, match=r"a text has 22 characters; .* takes 10"):
        Entities(labels=("PERSON",), model=model).find_all([Passage("short"), Passage("Anna has gout in Rome.")])


def test_a_pipeline_that_is_not_installed_is_named_with_the_way_to_get_it() -> None:
    with pytest.raises(InvalidInputError, match=r"'xx_none_sm'.*python -m spacy download xx_none_sm"):
        Entities(labels=("PERSON",), model="xx_none_sm").find("x")


def test_a_folder_that_holds_no_pipeline_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be loaded") as caught:
        Entities(labels=("PERSON",), model=str(tmp_path)).find("x")
    assert "\n" not in str(caught.value)


def test_a_pipeline_without_entities_is_an_error(tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(InvalidInputError, match="recognizes no entities"):
        Entities(labels=("PERSON",), model=str(tmp_path)).find("x")


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[entities\]"):
        Entities(labels=("PERSON",), model="another pipeline").find("x")


@pytest.mark.parametrize("labels", [(), ("",)])
def test_labels_that_say_nothing_are_errors(labels: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInputError, match="label"):
        Entities(labels=labels)
