"""Contract that every concept keeps."""

import json
from pathlib import Path

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage, merge_overlaps
from vecveil.concepts.toml_file import dump_concept, parse_concept

# An emoji of several characters, a letter with a loose accent, a right-to-left word, a letter that grows when it is
# lowered, a zero byte and half a character.
_UNUSUAL = "👩‍⚕️ e\u0301 שלום İ \x00 \ud800 ﬁ ½"


def check_concept(concept: Concept, *, positive: Passage, negative: Passage) -> None:
    """Raise AssertionError unless `concept` keeps the contract of concepts.

    Args:
        concept: The concept to check.
        positive: A text that holds the concept, and nothing of it once that is removed.
        negative: A text that does not hold it.
    """
    _check_finding(concept, positive, negative)
    _check_removal(concept, positive, negative)
    _check_settings(concept)
    _check_summary(concept, positive)


def _check_finding(concept: Concept, positive: Passage, negative: Passage) -> None:
    texts = [positive, negative, Passage(""), Passage(" "), Passage(_UNUSUAL)]
    found = concept.find_all(texts)
    assert len(found) == len(texts), "find_all gives one result for each passage"
    assert concept.find_all([]) == [], "find_all of no passages is empty"
    assert len(found[0]) > 0, "the positive text holds the concept"
    assert found[1] == (), "the negative text does not hold the concept"
    assert found[2] == found[3] == (), "an empty or blank text holds nothing"
    searched, taken_out = concept.search(texts)
    assert searched == found, "search and find_all agree"
    for passage, spans, contrast in zip(texts, found, taken_out, strict=True):
        assert bool(contrast) == bool(spans), "a contrast takes something out of each text that holds the concept"
        assert spans == concept.find(passage), "find and find_all agree"
        assert spans == merge_overlaps(spans), "spans are in order and disjoint"
        assert all(span.end <= len(passage.text) for span in spans), "spans lie within their text"
        assert all(span.label for span in spans), "every span has a label"


def _check_removal(concept: Concept, positive: Passage, negative: Passage) -> None:
    removed = concept.remove(positive)
    assert len(removed) < len(positive.text), "removal makes a text with the concept shorter"
    assert concept.find(removed) == (), "nothing of the concept is found after its removal"
    assert concept.remove(negative) == negative.text, "removal leaves a text without the concept as it is"


def _check_settings(concept: Concept) -> None:
    again = parse_concept(dump_concept(concept), folder=Path())
    assert again == concept, "the concept survives TOML"
    assert again.settings() == concept.settings(), "the settings survive TOML"


def _check_summary(concept: Concept, positive: Passage) -> None:
    shown = json.dumps(dict(concept.summary()), ensure_ascii=False).casefold()
    surfaces = {positive.text[span.start : span.end].casefold() for span in concept.find(positive)}
    assert not any(surface in shown for surface in surfaces), "the summary does not show the concept"
