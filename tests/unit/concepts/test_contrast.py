from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import pytest

from vecveil.concepts.content_words import ContentWords
from vecveil.concepts.contrast import ContrastSet, contrast_set
from vecveil.concepts.passage import Passage
from vecveil.concepts.terms import Terms
from vecveil.core.errors import InvalidInputError, UnknownNameError

_ILLNESS = Terms(terms=("asthma", "gout"), label="DISEASE")
_TEXTS = ["He has asthma.", "He is well.", "Asthma and gout hurt her."]

T = TypeVar("T")


def test_pairs_are_the_texts_with_the_concept_and_the_same_without_it() -> None:
    pairs = contrast_set(_ILLNESS, _TEXTS)
    assert pairs.with_concept == ("He has asthma.", "Asthma and gout hurt her.")
    assert pairs.without_concept == ("He has.", "and hurt her.")
    assert pairs.rows == (0, 2)
    assert pairs.counts == {"DISEASE": 3}
    assert pairs.kind == "removal"
    assert len(pairs) == 2


def test_replacement_puts_another_term_in_place() -> None:
    pairs = contrast_set(_ILLNESS, _TEXTS, kind="replacement")
    assert pairs.without_concept == ("He has gout.", "Gout and asthma hurt her.")


def test_the_seed_decides_the_replacements() -> None:
    concept = Terms(terms=tuple("abcdefgh"))
    texts = ["so", *(f"{letter} is" for letter in "abcdefgh")]
    first, again, other = (contrast_set(concept, texts, kind="replacement", seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_an_empty_corpus_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="no texts"):
        contrast_set(_ILLNESS, [])


def test_a_concept_in_no_text_is_an_error_with_the_number_of_texts() -> None:
    with pytest.raises(InvalidInputError, match=r"matches nothing in 2 text\(s\)"):
        contrast_set(_ILLNESS, ["well", "fine"])


def test_a_concept_in_every_text_must_be_accepted_by_name() -> None:
    texts = ["He has gout.", "She has asthma."]
    with pytest.raises(InvalidInputError, match=r"matches all 2 text\(s\).*allow_everywhere=True"):
        contrast_set(_ILLNESS, texts)
    assert contrast_set(_ILLNESS, texts, allow_everywhere=True).rows == (0, 1)


def test_texts_that_removal_empties_must_be_dropped_by_name() -> None:
    texts = ["He has gout.", "well", "Asthma.", "gout, asthma"]
    with pytest.raises(InvalidInputError, match=r"2 text\(s\) are empty.*row 2;.*drop_empty=True") as caught:
        contrast_set(_ILLNESS, texts)
    assert "sthma" not in str(caught.value)
    pairs = contrast_set(_ILLNESS, texts, drop_empty=True)
    assert pairs.rows == (0,)
    assert pairs.counts == {"DISEASE": 1}


def test_a_corpus_of_nothing_but_the_concept_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match=r"all 1 text\(s\) with the concept are empty"):
        contrast_set(_ILLNESS, ["gout", "well"], drop_empty=True)


def test_a_contrast_takes_out_what_the_concept_says_it_should() -> None:
    text = "Anna has gout, asthma and a cough since Monday."
    pairs = contrast_set(ContentWords(), [text], allow_everywhere=True)
    found = ContentWords().find(text)
    assert pairs.counts == {"WORD": 3}
    assert len(found) == 5
    assert len(ContentWords().find(pairs.without_concept[0])) == 2


def test_an_unknown_kind_of_contrast_gets_a_guess() -> None:
    kind: Any = "remove"
    with pytest.raises(UnknownNameError, match="did you mean 'removal'"):
        contrast_set(_ILLNESS, _TEXTS, kind=kind)


def test_progress_hears_of_each_chunk() -> None:
    heard: list[tuple[int | None, int]] = []

    def count(items: Iterable[T], *, label: str, total: int | None = None, weigh: Any = None) -> Iterator[T]:
        for item in items:
            heard.append((total, weigh(item)))
            yield item

    pairs = contrast_set(_ILLNESS, [Passage("gout again"), *["well"] * 1200, "gout at last"], progress=count)
    assert heard == [(1202, 512), (1202, 512), (1202, 178)]
    assert pairs.rows == (0, 1201)


def test_its_repr_tells_no_text() -> None:
    assert "sthma" not in repr(contrast_set(_ILLNESS, _TEXTS))


def test_uneven_sides_are_an_error() -> None:
    with pytest.raises(InvalidInputError, match=r"\(2, 1, 2\)"):
        ContrastSet(with_concept=("a", "b"), without_concept=("c",), kind="removal", rows=(0, 1), counts={})
