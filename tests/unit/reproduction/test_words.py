from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reproduction import Lab
from reproduction.datasets import Sizes
from reproduction.words import GROUPS, Words, top
from support.benchmark import CITIES, DAYS
from vecveil.core.errors import InvalidInputError


def _words(lab: Lab, *groups: str) -> Words:
    return Words(lab=lab, groups={name: GROUPS[name] for name in groups})


def test_sentences_hold_a_word_or_none_of_them_as_often(lab: Lab) -> None:
    words = _words(lab, "weekdays")
    held = [any(day in passage.text for day in DAYS) for passage in words.sentences]
    everywhere = {passage.text for passage in lab.dataset("sts12").texts(lab.data)}
    assert sum(held) == sum(any(day in text for day in DAYS) for text in everywhere)
    assert len(held) == 2 * sum(held)
    assert len({passage.text for passage in words.sentences}) == len(held)


def test_a_quick_look_takes_fewer_sentences(lab: Lab) -> None:
    quick = replace(lab, effort=replace(lab.effort, sizes=Sizes(texts=10)))
    assert len(_words(quick, "weekdays").sentences) == 2 * 20


def test_words_that_too_few_sentences_hold_are_left_out(lab: Lab) -> None:
    groups = {"weekdays": GROUPS["weekdays"], "city": GROUPS["city"], "moons": ("Io", "Titan")}
    found = Words(lab=lab, groups=groups).frequent()
    assert {group: sorted(words) for group, words in found.items()} == {
        "weekdays": sorted(DAYS),
        "city": sorted(CITIES),
    }
    assert all(len(words) == 1 for words in _words(lab, "weekdays", "city").frequent(1).values())
    with pytest.raises(InvalidInputError, match="no word of moons is in 8 sentences"):
        Words(lab=lab, groups={"moons": groups["moons"]}).frequent()


def test_every_word_that_a_sentence_holds_is_a_category_of_its_own(lab: Lab) -> None:
    concept = _words(lab, "weekdays").concept
    assert {part.label for part in concept.parts} == {*DAYS}


def test_pairs_are_sentences_with_a_word_and_the_same_without_it(lab: Lab) -> None:
    words = _words(lab, "weekdays")
    held = [passage for passage in words.sentences if "Monday" in passage.text]
    pairs = words.pairs("Monday")
    assert len(pairs) == len(held) > 8
    np.testing.assert_array_equal(pairs.with_concept, words.embed([passage.text for passage in held]))
    assert len(words.pairs("Monday", held[:5])) == 5


def test_the_largest_come_first_and_of_equal_ones_the_first() -> None:
    assert top(np.array([0.1, 0.5, 0.2, 0.5, 0.0]), 3) == [1, 3, 2]
