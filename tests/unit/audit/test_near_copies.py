from __future__ import annotations

import numpy as np
import pytest
from support.corpora import toy_concept, toy_texts
from support.embedders import WordEmbedder

from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.encoding import Memory
from vecveil.audit.near_copies import near_groups
from vecveil.concepts.passage import passages
from vecveil.core.errors import InvalidInputError


def test_rows_are_joined_by_steps_of_at_least_the_cosine() -> None:
    angles = np.radians([0, 20, 40, 180, 90])
    vectors = np.column_stack([np.cos(angles), np.sin(angles)]) * [[1], [5], [2], [1], [1]]
    labels = near_groups(vectors, float(np.cos(np.radians(25))))
    assert labels[0] == labels[1] == labels[2]
    assert len(set(labels.tolist())) == 3


@pytest.mark.parametrize("cosine", [0.0, 1.5, float("nan")])
def test_a_cosine_is_a_share(cosine: float) -> None:
    with pytest.raises(InvalidInputError, match="near_copies"):
        near_groups(np.eye(3), cosine)


def test_near_copies_stay_on_one_side_of_every_split() -> None:
    texts = toy_texts(300)
    # The embedder takes words in any order for the same text, so that each of these has a twin.
    twins = [" ".join(reversed(text.split())) for text in texts]
    corpus = AuditCorpus.of(toy_concept(), passages([*texts, *twins]), Memory(WordEmbedder()), near_copies=0.999)
    group = near_groups(corpus.clean, 0.999)
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
    corpus = AuditCorpus.of(toy_concept(), passages(texts), Memory(WordEmbedder()))
    train, held_out, test = corpus.split(0)
    assert [len(train), len(held_out), len(test)] == [round(0.7 * 225) + round(0.7 * 75), 30, 300 - 30 - len(train)]


def test_texts_that_all_hang_together_are_refused_with_their_number() -> None:
    corpus = AuditCorpus.of(toy_concept(), passages(toy_texts(300)), Memory(WordEmbedder()), near_copies=0.3)
    with pytest.raises(InvalidInputError, match=r"from cosine 0.3 on, hang together in a group of \d+ of 300"):
        corpus.split(0)
