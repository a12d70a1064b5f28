"""The frames of the sample corpus: enough of them, each used, none telling what it should not."""

from __future__ import annotations

import re

import pytest

from vecveil.samples import clinical_sentences
from vecveil.samples.facts import Picker, imagine_case
from vecveil.samples.frames import DISCLOSING, ROUTINE
from vecveil.samples.lexicon import TOPICS
from vecveil.samples.sentence import SLOT

PRIVATE_SLOTS = {"disease", "other_disease", "age", "aged", "year_old", "years_old", "years"}


def slots(frame: str) -> set[str]:
    return {slot[2] for slot in SLOT.finditer(frame)}


def test_frames_are_many_and_different() -> None:
    assert min(len(DISCLOSING), len(ROUTINE)) >= 60
    assert len({*DISCLOSING, *ROUTINE}) == len(DISCLOSING) + len(ROUTINE)


def test_every_frame_is_used_by_the_default_corpus() -> None:
    sentences = "\n".join(sentence.text for sentence in clinical_sentences())
    for frame in (*DISCLOSING, *ROUTINE):
        pieces = [re.escape(piece) for piece in SLOT.sub("\0", frame).split("\0")]
        assert re.search(f"^{'.+'.join(pieces)}$", sentences, re.MULTILINE), frame


def test_slots_of_every_frame_have_facts_and_every_fact_has_a_slot() -> None:
    facts = imagine_case(TOPICS[0], Picker("any"))
    assert set.union(*map(slots, (*DISCLOSING, *ROUTINE))) == set(facts)


@pytest.mark.parametrize("frame", DISCLOSING)
def test_disclosing_frames_tell_a_disease_or_an_age(frame: str) -> None:
    assert slots(frame) & PRIVATE_SLOTS


@pytest.mark.parametrize("frame", ROUTINE)
def test_routine_frames_tell_neither(frame: str) -> None:
    assert not slots(frame) & PRIVATE_SLOTS
