"""Named entities, with the real spaCy pipeline."""

from __future__ import annotations

from vecveil.concepts.entities import Entities, _list_unneeded, load_pipeline
from vecveil.concepts.passage import Passage
from vecveil.testing.concepts import check_concept

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
    unneeded = _list_unneeded(pipeline)
    assert "ner" not in unneeded
    assert {"tagger", "parser", "lemmatizer"} <= set(unneeded)
    texts = [_TEXT, "Acme Corp. paid $5 million to John Smith in Paris last May.", "Two of them left the Nile."]
    labels = tuple(pipeline.get_pipe("ner").labels)
    whole = [[(entity.start_char, entity.label_) for entity in pipeline(text).ents] for text in texts]
    found = Entities(labels=labels).find_all([Passage(text) for text in texts])
    assert [[(span.start, span.label) for span in spans] for spans in found] == whole


def test_it_keeps_the_contract_of_concepts() -> None:
    negative = Passage("It was warm  again , and the cat slept.")
    check_concept(Entities(labels=("PERSON", "GPE")), positive=Passage(_TEXT), negative=negative)
