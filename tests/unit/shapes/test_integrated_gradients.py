from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError, MissingExtraError, UnknownNameError, VecveilWarning
from vecveil.shapes import Evidence, FittedShape, LabeledEmbeddings, build_learner
from vecveil.testing.shapes import PlantedAttacker, planted_attacker, planted_pairs

_PAIRS = planted_pairs(dimensions=20, pairs=12, moved=5)


def _fit(attacker: PlantedAttacker, **settings: Any) -> FittedShape:
    learner = build_learner("integrated-gradients", settings={"steps": 8, **settings})
    corpus = LabeledEmbeddings(vectors=attacker.vectors, words=attacker.words)
    return learner.fit(Evidence(_PAIRS, corpus, lambda *_: attacker), np.random.default_rng(0))


def _attacker(**choices: Any) -> PlantedAttacker:
    return planted_attacker(**{"dimensions": 20, "words": 5, "rows": 240, **choices})


def test_the_dimensions_that_an_attack_reads_get_the_noise() -> None:
    fitted = _fit(_attacker())
    assert fitted.shape.variances[:5].min() > 2 * fitted.shape.variances[5:].max()
    assert fitted.shape.variances.sum() == pytest.approx(20)


def test_facts_tell_how_much_was_read_and_from_where() -> None:
    attacker = _attacker()
    facts = _fit(attacker).facts
    assert facts["token_instances"] == sum(map(len, attacker.words))
    assert facts["held_out_tokens"] == sum(len(attacker.words[row]) for row in attacker.held_out)
    assert facts["held_out_recall"] > 0.9
    assert facts["half_correlation"] > 0.8
    assert 0.2 < facts["top_tenth_share"] <= 1
    assert facts["completeness_gap"] == pytest.approx(0, abs=1e-4)


def test_a_baseline_at_the_mean_disregards_what_every_text_has() -> None:
    attacker = _attacker()
    shifted = replace(attacker, vectors=attacker.vectors + 50 * np.eye(20, dtype=np.float32)[19])
    from_mean = _fit(shifted, baseline="mean").shape.variances
    assert from_mean == pytest.approx(_fit(attacker, baseline="mean").shape.variances, rel=0.05)
    assert _fit(shifted, baseline="zero").shape.variances[19] > 2 * from_mean[19]


def test_an_attack_that_reads_nothing_is_warned_of() -> None:
    attacker = _attacker()
    noise = np.random.default_rng(1).standard_normal(attacker.vectors.shape).astype(np.float32)
    wordy = replace(attacker, vectors=noise, words=tuple((f"w{row % 40}",) for row in range(len(noise))))
    with pytest.warns(VecveilWarning, match=r"'mlc' reads \d% of 40 sensitive words in held-out texts"):
        _fit(wordy)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([("gout",)] * 96, r"knows 1 sensitive word\(s\).*such as 'hard-concrete'"),
        ([("gout",), ("asthma",), *[()] * 90, *[("gout",)] * 4], "at least 10 sensitive words, the texts hold 6 that"),
        ([("gout",), ("asthma",)] * 40 + [()] * 16, "none of 16 held-out texts holds a sensitive word"),
    ],
)
def test_too_few_words_are_refused_with_their_number(words: list[tuple[str, ...]], reason: str) -> None:
    attacker = replace(planted_attacker(dimensions=20, words=5, rows=96), words=tuple(words))
    with pytest.raises(InvalidInputError, match=reason) as refused:
        _fit(attacker)
    assert "gout" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"baseline": "zeros"}, "did you mean 'zero'"),
        ({"steps": 0}, "steps must be a whole number of at least 1"),
        ({"floor": 1.0}, "floor"),
        ({"attack": 3}, "attack must be the name of an attack, got 3"),
        ({"attack_settings": "fast"}, "attack_settings must be a table, got 'fast'"),
    ],
)
def test_settings_are_checked_at_birth(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises((InvalidInputError, UnknownNameError), match=reason):
        build_learner("integrated-gradients", settings=settings)


def test_the_papers_floor_is_a_preset() -> None:
    assert vars(build_learner("integrated-gradients", preset="paper"))["floor"] == 1e-6


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    attacker = _attacker()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[local\]"):
        _fit(attacker)
