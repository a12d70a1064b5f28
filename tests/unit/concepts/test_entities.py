from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from vecveil.concepts.entities import Entities, _unneeded
from vecveil.concepts.passage import Passage
from vecveil.concepts.spacy_pipeline import load_pipeline
from vecveil.core.errors import InvalidInputError, MissingExtraError, UnknownNameError

_TEXT = "Angela Merkel met Barack Obama in Berlin on Monday."


def _found(text: str, *labels: str) -> list[str]:
    return [text[span.start : span.end] for span in Entities(labels=labels).find(text)]


def test_only_the_named_labels_are_found() -> None:
    assert _found(_TEXT, "PERSON") == ["Angela Merkel", "Barack Obama"]
    assert _found(_TEXT, "GPE", "DATE") == ["Berlin", "Monday"]


def test_offsets_count_characters_also_after_an_emoji() -> None:
    assert _found("👩‍⚕️ says that " + _TEXT, "GPE") == ["Berlin"]


def test_the_components_left_out_make_no_difference() -> None:
    pipeline = load_pipeline("en_core_web_sm")
    unneeded = _unneeded(pipeline)
    assert "ner" not in unneeded
    assert {"tagger", "parser", "lemmatizer"} <= set(unneeded)
    texts = [_TEXT, "Acme Corp. paid $5 million to John Smith in Paris last May.", "Two of them left the Nile."]
    labels = tuple(pipeline.get_pipe("ner").labels)
    whole = [[(entity.start_char, entity.label_) for entity in pipeline(text).ents] for text in texts]
    found = Entities(labels=labels).find_all([Passage(text) for text in texts])
    assert [[(span.start, span.label) for span in spans] for spans in found] == whole


def test_a_pipeline_is_loaded_once() -> None:
    assert load_pipeline("en_core_web_sm") is load_pipeline("en_core_web_sm")


def test_an_unknown_label_gets_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="unknown entity label 'PERSONS'; did you mean 'PERSON'"):
        Entities(labels=("PERSONS",)).find("x")


def test_a_pipeline_that_is_not_installed_is_named_with_the_way_to_get_it() -> None:
    with pytest.raises(InvalidInputError, match=r"'xx_none_sm'.*python -m spacy download xx_none_sm"):
        Entities(labels=("PERSON",), model="xx_none_sm").find("x")


def test_a_folder_that_holds_no_pipeline_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be loaded") as caught:
        Entities(labels=("PERSON",), model=str(tmp_path)).find("x")
    assert "\n" not in str(caught.value)


def test_a_pipeline_in_a_folder_works(tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("en")
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "DISEASE", "pattern": "gout"}])
    pipeline.to_disk(tmp_path)
    assert Entities(labels=("DISEASE",), model=str(tmp_path)).remove("He has gout now") == "He has now"


def test_a_pipeline_without_entities_is_an_error(tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(InvalidInputError, match="recognises no entities"):
        Entities(labels=("PERSON",), model=str(tmp_path)).find("x")


def test_a_text_that_is_too_long_is_told_by_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline: Any = load_pipeline("en_core_web_sm")
    monkeypatch.setattr(pipeline, "max_length", 10)
    with pytest.raises(InvalidInputError, match="a text has 51 characters; 'en_core_web_sm' takes 10"):
        Entities(labels=("PERSON",)).find_all([Passage("short"), Passage(_TEXT)])


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[entities\]"):
        Entities(labels=("PERSON",), model="another pipeline").find("x")


@pytest.mark.parametrize("labels", [(), ("",)])
def test_labels_that_say_nothing_are_errors(labels: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInputError, match="label"):
        Entities(labels=labels)
