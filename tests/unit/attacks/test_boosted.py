from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from support.corpora import toy_audit, toy_plan
from vecveil.attacks import Sample, TrainingRun
from vecveil.attacks.boosted import Boosted, TrainedBoosted, TreeFeatures
from vecveil.audit.experiment import Experiment
from vecveil.concepts import SensitiveToken
from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.testing.toy_notes import UNSEEN, leakage, ranking, toy_notes

NOTES = toy_notes()
HELD_OUT = NOTES.held_out
QUICK: dict[str, Any] = {"rounds": 20, "landmarks": 60}


def trained(attack: Boosted | None = None, sample: Sample = NOTES.train, held_out: Sample = HELD_OUT) -> Any:
    return (attack or Boosted(**QUICK)).train(TrainingRun(sample, held_out, np.random.default_rng(0)))


def bent(rows: int) -> Sample:
    """Return texts of one word or the other; which of the two depends on the sign of a product of two coordinates."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((rows, 6)).astype(np.float32)
    chosen = np.where(vectors[:, 0] * vectors[:, 1] > 0, "rome", "oslo")
    tokens = tuple((SensitiveToken(str(word), "GPE"),) for word in chosen)
    return Sample(vectors=vectors, texts=tuple(map(str, range(rows))), tokens=tokens)


def test_the_commonest_words_are_learned_however_often_a_text_was_released() -> None:
    tokens = ((SensitiveToken("once", "X"),), *NOTES.train.tokens[1:])
    released = replace(NOTES.train, tokens=tokens).rows([*range(len(NOTES.train)), *[0] * 60])
    assert "once" in trained(Boosted(**QUICK), released).vocabulary
    few = trained(Boosted(**QUICK, most=5), released).vocabulary
    counts = NOTES.train.mark_words(NOTES.train.vocabulary).sum(axis=0)
    least = np.sort(counts)[-5]
    assert len(few) == 5
    assert sorted(few) == list(few)
    assert all(counts[NOTES.train.vocabulary.index(word)] >= least for word in few)


def test_rarer_words_count_as_not_read() -> None:
    attack = trained(Boosted(**QUICK, most=3))
    recovery, confidence = attack.recover(NOTES.test.vectors), attack.confidence(NOTES.test)
    assert set().union(*recovery.words) <= set(attack.vocabulary)
    unknown = [
        value
        for tokens, values in zip(NOTES.test.tokens, confidence, strict=True)
        for token, value in zip(tokens, values, strict=True)
        if token.word not in attack.vocabulary
    ]
    assert UNSEEN in {token.word for tokens in NOTES.test.tokens for token in tokens}
    assert set(unknown) == {0.0}


def test_what_is_no_sum_of_coordinates_is_read_too() -> None:
    whole = bent(900)
    attack = trained(Boosted(**{**QUICK, "landmarks": 200}), whole.rows(range(600)), whole.rows(range(600, 700)))
    test = whole.rows(range(700, 900))
    own, chance = leakage(attack.recover(test.vectors), test)
    assert own > chance + 0.25
    assert ranking(attack.recover(test.vectors), test) > 0.8


@pytest.mark.parametrize("told", [True, False])
def test_the_threshold_is_the_one_that_reads_held_out_texts_best(told: bool) -> None:
    parts = [part if told else replace(part, vectors=np.ones_like(part.vectors)) for part in (NOTES.train, HELD_OUT)]
    attack = trained(None, *parts)
    scores, truth = attack.recover(parts[1].vectors).scores, HELD_OUT.mark_words(attack.vocabulary)

    def quality(threshold: float) -> float:
        claimed = scores >= threshold
        return float(2 * (claimed & truth).sum() / (claimed.sum() + truth.sum()))

    assert quality(attack.threshold) == pytest.approx(max(map(quality, np.unique(scores))))


def test_growing_stops_where_held_out_texts_are_read_no_better() -> None:
    noise = toy_notes(unrelated=True)
    blind = trained(Boosted(rounds=60, learning_rate=0.5), noise.train, noise.held_out)
    assert blind.rounds < 30
    assert trained(Boosted(rounds=60)).rounds > blind.rounds


@pytest.mark.parametrize("copies", [1, 3])
def test_opinions_on_a_training_text_come_from_other_texts(copies: int) -> None:
    """One that has seen the text, or another release of it, would know its words by heart, and trees would trust it."""
    sample = toy_notes(unrelated=True).train
    copied = sample.rows([*range(len(sample))] * copies)
    truth = copied.mark_words(sample.vocabulary)
    features, seen = TreeFeatures.fit(copied, truth, np.random.default_rng(0), components=3, landmarks=100)

    def agreement(opinions: Matrix) -> float:
        return float(np.corrcoef(opinions.ravel(), truth.ravel())[0, 1])

    assert agreement(features.transform(copied.vectors)[:, 3:]) > 0.5
    assert abs(agreement(seen[:, 3:])) < 0.15
    np.testing.assert_array_equal(seen[:, :3], features.transform(copied.vectors)[:, :3])


def test_axes_that_are_not_released_are_no_obstacle() -> None:
    still = [replace(part, vectors=part.vectors.copy()) for part in (NOTES.train, NOTES.held_out)]
    for part in still:
        part.vectors[:, :8] = 0.25
    assert np.isfinite(trained(None, *still).recover(NOTES.test.vectors).scores).all()


def test_vectors_that_are_all_the_same_tell_nothing() -> None:
    same = [replace(part, vectors=np.ones_like(part.vectors)) for part in (NOTES.train, NOTES.held_out)]
    scores = trained(None, *same).recover(NOTES.test.vectors).scores
    np.testing.assert_allclose(scores, np.broadcast_to(scores[0], scores.shape))


def test_a_word_in_every_text_is_left_out() -> None:
    everywhere = SensitiveToken("everywhere", "X")
    more = replace(NOTES.train, tokens=tuple((*tokens, everywhere) for tokens in NOTES.train.tokens))
    assert trained(None, more).vocabulary == NOTES.train.vocabulary
    alone = replace(NOTES.train, tokens=((everywhere,),) * len(NOTES.train))
    with pytest.raises(InvalidInputError, match=r"some training texts hold and others don't, got 120 text\(s\)"):
        trained(None, alone)


def test_held_out_texts_without_a_known_word_are_refused() -> None:
    nothing = replace(NOTES.held_out, tokens=((SensitiveToken("atlantis", "GPE"),),) * len(NOTES.held_out))
    for held_out in (nothing, nothing.rows([])):
        with pytest.raises(InvalidInputError, match="stopped by what it reads of held-out texts"):
            trained(held_out=held_out)


def test_vectors_may_be_backwards_read_only_or_wide() -> None:
    attack = trained()
    locked = NOTES.test.vectors.copy()
    locked.setflags(write=False)
    expected = attack.recover(NOTES.test.vectors).scores
    np.testing.assert_array_equal(attack.recover(locked).scores, expected)
    np.testing.assert_allclose(attack.recover(locked[::-1]).scores, expected[::-1])
    np.testing.assert_array_equal(attack.recover(locked.astype(np.float64)).scores, expected)


def test_vectors_of_other_dimensions_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="vectors must have 32 dimensions, got 5"):
        trained().recover(np.ones((2, 5)))


def test_one_thread_is_enough_and_the_limit_is_lifted_again() -> None:
    with threadpool_limits(limits=2):
        before = [pool["num_threads"] for pool in threadpool_info()]
        scores = trained().recover(NOTES.test.vectors).scores
        assert [pool["num_threads"] for pool in threadpool_info()] == before
    with threadpool_limits(limits=1):
        np.testing.assert_array_equal(trained().recover(NOTES.test.vectors).scores, scores)


def test_an_audit_runs_it(tmp_path: Path) -> None:
    plan = toy_plan(1.5, attacks=("boosted,rounds=30,landmarks=100",))
    result, _ = toy_audit(plan, texts=200).run(Experiment(tmp_path / "audit"))
    read = {row.setting.defense: row.leakage.value - row.chance for row in result.attacks}
    assert {row.attack for row in result.attacks} == {"boosted"}
    assert read["none"] > 0.3
    assert read["veil"] < read["none"]


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingExtraError, match=r"scikit-learn is not installed.*vecveil\[audit\]"):
        trained()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"most": 0}, "most must be a whole number of at least 1, got 0"),
        ({"components": 2.5}, "components must be a whole number of at least 1, got 2.5"),
        ({"landmarks": -1}, "landmarks must be"),
        ({"rounds": True}, "rounds must be"),
        ({"leaves": 1}, "leaves must be a whole number of at least 2, got 1"),
        ({"learning_rate": 0}, "learning_rate must be a finite number above zero, got 0"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Boosted(**settings)


def test_more_components_and_landmarks_than_there_are_is_no_mistake() -> None:
    attack = trained(Boosted(components=500, landmarks=5000, rounds=3))
    assert isinstance(attack, TrainedBoosted)
    assert attack.features.axes.shape == (32, 32)
    assert attack.features.regression.coef_.shape == (len(attack.vocabulary), 120)
