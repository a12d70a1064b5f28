from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pytest

from support.concepts import CountingTerms
from vecveil.concepts.annotated import Annotated
from vecveil.concepts.content_words import ContentWords
from vecveil.concepts.contrast import ContrastSet, contrast_set
from vecveil.concepts.passage import Passage, Span
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


def test_it_keeps_what_was_found_in_every_text_of_the_corpus() -> None:
    texts = [*_TEXTS, "Gout."]
    pairs = contrast_set(_ILLNESS, texts, drop_empty=True)
    assert pairs.rows == (0, 2)
    assert pairs.spans == tuple(_ILLNESS.find(text) for text in texts)
    assert pairs.spans[1] == ()


def test_it_keeps_all_that_was_found_where_a_contrast_takes_out_a_share() -> None:
    text = "Anna has gout, asthma and a cough since Monday."
    pairs = contrast_set(ContentWords(), [text], allow_everywhere=True)
    assert pairs.spans == (ContentWords().find(text),)
    assert sum(pairs.counts.values()) < len(pairs.spans[0])


@pytest.mark.parametrize("kind", ["removal", "replacement"])
def test_each_text_is_searched_once(kind: Any) -> None:
    concept, texts = CountingTerms(terms=_ILLNESS.terms), [*_TEXTS, "It is warm.", "It is."]
    contrast_set(concept | Terms(terms=("well", "warm"), label="STATE"), texts, kind=kind)
    assert concept.searched == texts


def test_each_text_is_searched_once_where_a_contrast_takes_out_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    search = ContentWords.search

    def count(concept: ContentWords, passages: Sequence[Passage]) -> Any:
        searched.extend(passage.text for passage in passages)
        return search(concept, passages)

    monkeypatch.setattr(ContentWords, "search", count)
    monkeypatch.setattr(ContentWords, "find_all", lambda *_: pytest.fail("searched again"))
    texts = [f"Anna has gout and asthma in bed {number}." for number in range(600)]
    contrast_set(ContentWords(), texts)
    assert searched == texts


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


def test_labels_that_were_found_nowhere_are_named() -> None:
    concept = Annotated(labels=("DISEASE", "CITY"))
    texts = [Passage("gout again", (Span(0, 4, "DISEASE"),)), "well"]
    assert contrast_set(concept, texts).unseen == ("CITY",)
    assert contrast_set(_ILLNESS, _TEXTS).unseen == ()


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
        ContrastSet(with_concept=("a", "b"), without_concept=("c",), kind="removal", rows=(0, 1), spans=(), counts={})
