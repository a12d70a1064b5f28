from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.concepts import CountingTerms
from support.corpora import CITIES, ILLNESSES, toy_concept, toy_corpus, toy_texts
from support.embedders import WordEmbedder
from vecveil.audit.corpus import AuditCorpus, group_near_copies
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.concepts import Concept, Passage, Span, annotated, terms
from vecveil.concepts.passage import passages
from vecveil.core.errors import InvalidInputError, VecveilWarning


def _corpus(
    texts: list[str], concept: Concept | None = None, embedder: WordEmbedder | None = None, **settings: Any
) -> AuditCorpus:
    embed = MemoizedEmbedder(embedder or WordEmbedder())
    return AuditCorpus.from_texts(concept or toy_concept(), passages(texts), embed, **settings)


def test_every_text_has_its_tokens_and_its_vector() -> None:
    corpus, texts = toy_corpus(), toy_texts()
    assert corpus.texts == tuple(texts)
    for text, tokens in zip(texts, corpus.tokens, strict=True):
        expected = dict.fromkeys(word for word in text.split() if word in ILLNESSES + CITIES)
        assert [token.word for token in tokens] == list(expected)
        assert all((token.label == "CITY") == (token.word in CITIES) for token in tokens)
    np.testing.assert_array_equal(corpus.clean, WordEmbedder().embed(texts))
    assert corpus.vocabulary == {*ILLNESSES, *CITIES}


def test_each_text_is_searched_once() -> None:
    concept = CountingTerms(terms=ILLNESSES)
    _corpus(toy_texts(), concept)
    assert sorted(concept.searched) == sorted(set(toy_texts()))


def test_pairs_are_texts_with_the_concept_and_the_same_without() -> None:
    corpus = toy_corpus()
    held, removed = corpus.pair_passages[: len(corpus.pairs)], corpus.pair_passages[len(corpus.pairs) :]
    assert len(corpus.pairs) == 300
    for one, other in zip(held, removed, strict=True):
        assert [word for word in one.text.split() if word not in ILLNESSES + CITIES] == other.text.split()
        assert one.text != other.text
    np.testing.assert_array_equal(corpus.pairs.with_concept, WordEmbedder().embed([one.text for one in held]))
    np.testing.assert_array_equal(corpus.pairs.without_concept, WordEmbedder().embed([one.text for one in removed]))


def test_no_more_pairs_than_are_asked_for() -> None:
    corpus = _corpus(toy_texts(), most_pairs=50)
    assert len(corpus.pairs) == 50
    assert len(corpus.pair_passages) == 100
    assert len(corpus) == 400


def test_a_text_that_comes_twice_counts_once() -> None:
    texts = toy_texts(200)
    embedder = WordEmbedder()
    corpus = _corpus([*texts, *texts[:150]], embedder=embedder)
    assert corpus.texts == tuple(texts)
    assert corpus.facts() == _corpus(texts).facts()
    assert len(embedder.asked) == len(set(embedder.asked))


def test_what_any_copy_of_a_text_marks_is_private() -> None:
    found = toy_corpus().spans
    marked = [Passage(text, spans) for text, spans in zip(toy_texts(), found, strict=True)]
    bare = passages(toy_texts())
    corpus = AuditCorpus.from_texts(
        annotated(), [*marked[:200], *bare, *marked[200:]], MemoizedEmbedder(WordEmbedder())
    )
    assert corpus.tokens == toy_corpus().tokens


def test_too_few_texts_are_refused_before_anything_is_embedded() -> None:
    embedder = WordEmbedder()
    texts = toy_texts(120)
    with pytest.raises(InvalidInputError, match=r"at least 100 distinct texts .* got 90 among 120 distinct") as caught:
        _corpus([*texts, *texts], embedder=embedder)
    assert embedder.asked == []
    assert not any(word in str(caught.value) for word in ILLNESSES)


def test_texts_that_hold_nothing_but_the_concept_are_not_enough() -> None:
    names = [f"{one} {other} {third}" for one in ILLNESSES for other in ILLNESSES for third in ILLNESSES + CITIES]
    with pytest.raises(InvalidInputError, match=r"something beside it.* got 30 among 136 distinct"):
        _corpus([*names, *toy_texts(40)])


def test_a_concept_that_is_nowhere_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="matches nothing in 200 text"):
        _corpus(toy_texts(200), terms("absentia"))


def test_no_texts_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no texts"):
        _corpus([])


def test_a_concept_that_is_everywhere_is_fine() -> None:
    corpus = _corpus([text for text in toy_texts(200) if set(text.split()) & set(ILLNESSES)])
    assert corpus.facts()["with_concept"] == len(corpus) == 150
    assert [len(part) for part in corpus.split(0)] == [105, 15, 30]


def test_a_label_that_was_found_nowhere_is_told() -> None:
    with pytest.warns(VecveilWarning, match="nothing was found for PLANET"):
        _corpus(toy_texts(200), toy_concept() | terms("pluto", label="PLANET"))


def test_annotations_are_what_is_private_where_the_concept_says_so() -> None:
    found = toy_corpus().spans
    marked = [Passage(text, spans) for text, spans in zip(toy_texts(), found, strict=True)]
    corpus = AuditCorpus.from_texts(annotated("ILLNESS"), marked, MemoizedEmbedder(WordEmbedder()))
    assert corpus.vocabulary == set(ILLNESSES)
    assert corpus.pair_passages[0] in marked


@pytest.mark.parametrize("seed", [0, 1, 17])
def test_every_text_is_in_one_part_and_the_concept_in_proportion(seed: int) -> None:
    corpus = toy_corpus()
    parts = corpus.split(seed)
    assert sorted(np.concatenate(parts)) == list(range(400))
    assert [len(part) for part in parts] == [280, 40, 80]
    shares = [np.mean([bool(corpus.tokens[row]) for row in part]) for part in parts]
    np.testing.assert_allclose(shares, 0.75)


def test_a_seed_gives_the_same_split_and_another_seed_another() -> None:
    one, same, other = (toy_corpus().split(seed)[2].tolist() for seed in (4, 4, 5))
    assert one == same
    assert len(set(one) & set(other)) < len(one) / 2


def test_the_digest_changes_with_a_text_or_a_span() -> None:
    corpus = toy_corpus()
    row = next(row for row, spans in enumerate(corpus.spans) if spans)
    texts = (*corpus.passages[:row], Passage(corpus.passages[row].text + "!"), *corpus.passages[row + 1 :])
    span = corpus.spans[row][0]
    others = [
        (Span(span.start, span.end, "OTHER"), *corpus.spans[row][1:]),
        (Span(span.start, span.end - 1, span.label), *corpus.spans[row][1:]),
        (),
    ]
    digests = {
        corpus.digest(),
        replace(corpus, passages=texts).digest(),
        *(replace(corpus, spans=(*corpus.spans[:row], one, *corpus.spans[row + 1 :])).digest() for one in others),
        replace(corpus, passages=corpus.passages[::-1], spans=corpus.spans[::-1]).digest(),
    }
    assert len(digests) == 6
    assert corpus.digest() == _corpus(toy_texts()).digest()


def test_facts_tell_sizes_and_nothing_private() -> None:
    facts = toy_corpus().facts()
    assert facts["texts"] == 400
    assert facts["with_concept"] == 300
    assert facts["tokens"] == sum(facts["tokens_by_category"].values()) == 400
    assert facts["distinct_tokens"] == 6
    assert facts["split"] == {"train": 280, "held_out": 40, "test": 80}
    assert not any(word in repr(facts) for word in ILLNESSES + CITIES)


def test_rows_are_joined_by_steps_of_at_least_the_cosine() -> None:
    angles = np.radians([0, 20, 40, 180, 90])
    vectors = np.column_stack([np.cos(angles), np.sin(angles)]) * [[1], [5], [2], [1], [1]]
    labels = group_near_copies(vectors, float(np.cos(np.radians(25))))
    assert labels[0] == labels[1] == labels[2]
    assert len(set(labels.tolist())) == 3


@pytest.mark.parametrize("cosine", [0.0, 1.5, float("nan")])
def test_a_cosine_is_a_share(cosine: float) -> None:
    with pytest.raises(InvalidInputError, match="near_copies"):
        group_near_copies(np.eye(3), cosine)


def test_near_copies_stay_on_one_side_of_every_split() -> None:
    texts = toy_texts(300)
    # The embedder takes words in any order for the same text, so that each of these has a twin.
    twins = [" ".join(reversed(text.split())) for text in texts]
    corpus = AuditCorpus.from_texts(
        toy_concept(), passages([*texts, *twins]), MemoizedEmbedder(WordEmbedder()), near_copies=0.999
    )
    group = group_near_copies(corpus.clean, 0.999)
    for seed in range(3):
        parts = corpus.split(seed)
        assert sorted(np.concatenate(parts).tolist()) == list(range(len(corpus)))
        sides = [set(group[part].tolist()) for part in parts]
        assert not sides[0] & sides[1]
        assert not sides[0] & sides[2]
        assert not sides[1] & sides[2]
        assert len(parts[0]) == pytest.approx(0.7 * len(corpus), rel=0.05)


def test_without_it_texts_are_split_one_by_one() -> None:
    texts = toy_texts(300)
    corpus = AuditCorpus.from_texts(toy_concept(), passages(texts), MemoizedEmbedder(WordEmbedder()))
    train, held_out, test = corpus.split(0)
    assert [len(train), len(held_out), len(test)] == [round(0.7 * 225) + round(0.7 * 75), 30, 300 - 30 - len(train)]


def test_texts_that_all_hang_together_are_refused_with_their_number() -> None:
    corpus = AuditCorpus.from_texts(
        toy_concept(), passages(toy_texts(300)), MemoizedEmbedder(WordEmbedder()), near_copies=0.3
    )
    with pytest.raises(
        InvalidInputError,
        match=r"\d+ of 300 texts belong together \(near copies from cosine 0.3 on",
    ):
        corpus.split(0)
