from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from support.embedders import WordEmbedder
from vecveil.attacks import Attack, Sample, TrainingRun
from vecveil.concepts import contrast_set, terms
from vecveil.concepts.passage import passages
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import Evidence
from vecveil.veil.evidence import CorpusAttacker, corpus_evidence

_CONCEPT = terms("gout", "asthma")
_CORPUS = passages(
    [
        *(f"Visit {n} was calm." for n in range(20)),
        " ",
        *(f"He has {w} {n}." for n in range(10) for w in ("gout", "asthma")),
    ]
)
_TEXTS = [passage.text for passage in _CORPUS if passage.text.strip()]


def _evidence(embedder: WordEmbedder | None = None) -> Evidence:
    return corpus_evidence(_CORPUS, contrast_set(_CONCEPT, _CORPUS), embedder or WordEmbedder())


class _Recorder:
    """An attack that keeps what it was trained on."""

    def __init__(self, trained: Any) -> None:
        self.trained, self.seen = trained, list[Sample]()

    def train(self, run: TrainingRun) -> Any:
        self.seen += [run.sample, run.held_out]
        return self.trained


def _attacker(trained: Any = None) -> tuple[CorpusAttacker, _Recorder]:
    recorder = _Recorder(trained or SimpleNamespace(network=None, vocabulary=("asthma", "gout")))
    attacker = _evidence().attacker("mlc", {}, np.random.default_rng(0))
    assert isinstance(attacker, CorpusAttacker)
    return replace(attacker, attack=cast(Attack, recorder)), recorder


def test_every_text_has_its_words_and_its_vector() -> None:
    attacker, _ = _attacker()
    texts, corpus = attacker.texts.texts, _evidence().corpus
    assert sorted(texts) == sorted(_TEXTS)
    for text, words in zip(texts, corpus.words, strict=True):
        assert words == tuple(word for word in ("gout", "asthma") if word in text)
    assert np.array_equal(corpus.vectors, WordEmbedder().embed(texts))


def test_texts_are_embedded_once_and_those_without_the_concept_only_where_they_are_needed() -> None:
    embedder = WordEmbedder()
    evidence = _evidence(embedder)
    assert len(evidence.pairs) == 20
    assert not any("calm" in text for text in embedder.asked)
    asked = len(embedder.asked)
    for _ in range(2):
        assert len(evidence.corpus.vectors) == 40
        evidence.attacker("mlc", {}, np.random.default_rng(0))
    assert embedder.asked[asked:] == [f"Visit {n} was calm." for n in range(20)]


def test_rows_are_held_out_of_texts_with_the_concept_and_of_the_others() -> None:
    attacker, _ = _attacker()
    assert sorted(bool(attacker.texts.tokens[row]) for row in attacker.held_out) == [False] * 3 + [True] * 3


def test_an_attack_is_trained_on_the_release_that_it_is_given() -> None:
    attacker, recorder = _attacker()
    release = attacker.texts.vectors + 1
    assert attacker.train(release, np.random.default_rng(0)) is recorder.trained
    sample, held_out = recorder.seen
    assert len(sample) == 34
    assert held_out.texts == tuple(attacker.texts.texts[row] for row in attacker.held_out)
    assert np.array_equal(held_out.vectors, release[list(attacker.held_out)])
    assert set(sample.texts).isdisjoint(held_out.texts)


def test_an_attack_without_gradients_is_refused_by_name() -> None:
    attacker, _ = _attacker(trained=object())
    with pytest.raises(InvalidInputError, match=r"can't be learned through _Recorder: .* use the attack 'mlc'"):
        attacker.train(attacker.texts.vectors, np.random.default_rng(0))


def test_a_release_of_other_texts_is_refused() -> None:
    attacker, _ = _attacker()
    with pytest.raises(InvalidInputError, match="must match, got 39, 40 and 40"):
        attacker.train(attacker.texts.vectors[1:], np.random.default_rng(0))


def test_its_repr_tells_no_text() -> None:
    attacker, _ = _attacker()
    assert "gout" not in repr(attacker) + repr(attacker.texts)


def test_values_are_swapped_for_others_of_their_category() -> None:
    embedder = WordEmbedder()
    swaps = _evidence(embedder).swaps
    assert len(swaps) == 160
    texts = {text.replace("gout", "?").replace("asthma", "?") for text in embedder.asked}
    assert texts >= {f"He has ? {n}." for n in range(10)}
    own, other = WordEmbedder().embed(["He has gout 3.", "He has asthma 3."])
    rows = np.flatnonzero((swaps.with_concept == own).all(axis=1))
    assert rows.size == 8
    assert np.array_equal(swaps.without_concept[rows], np.repeat(other[np.newaxis], 8, axis=0))


def test_a_value_without_another_of_its_category_is_not_swapped() -> None:
    alone = terms("gout")
    evidence = corpus_evidence(_CORPUS, contrast_set(alone, _CORPUS), WordEmbedder())
    with pytest.raises(InvalidInputError, match="no private value has another"):
        _ = evidence.swaps
