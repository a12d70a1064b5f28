from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.corpora import toy_concept, toy_corpus
from support.embedders import WordEmbedder
from support.veils import made_veil

from vecveil.attacks import ProbeScore
from vecveil.audit import probing
from vecveil.audit.budgets import Budget
from vecveil.audit.defences import Defence, Rewritten, Undefended, noise_defence
from vecveil.audit.encoding import Memory
from vecveil.audit.probing import probe_row
from vecveil.audit.results import ProbeRow, Setting
from vecveil.concepts.rewriting import build_rewriter

PLAIN = Setting(defence="none", label="none", asked="", dials=None, seed=0)


def _noise(ratio: float) -> tuple[Setting, Defence]:
    budget = Budget(value=ratio, scale="noise-ratio")
    return noise_defence("veil", budget, veil=made_veil(), pairs=toy_corpus().pairs, seed=0)


def _rewritten(name: str) -> Rewritten:
    corpus = toy_corpus()
    return Rewritten.over(corpus.passages, build_rewriter(name), toy_concept(), Memory(WordEmbedder()), seed=0)


def _row(setting: Setting, defence: Defence, kind: Any = "linear") -> ProbeRow:
    return probe_row(kind, toy_corpus(), setting, defence, np.random.default_rng(0))


@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_a_probe_sees_the_concept_in_unprotected_vectors_and_not_through_noise(kind: str) -> None:
    seen, hidden = _row(PLAIN, Undefended(), kind), _row(*_noise(30.0), kind)
    assert seen.probe == kind
    assert seen.auc.low > 0.75
    assert seen.tested == 2 * round(0.3 * 300)
    assert hidden.auc.low < 0.5 < hidden.auc.high
    assert seen.auc.low <= seen.auc.value <= seen.auc.high


def test_nothing_is_left_to_tell_apart_where_the_concept_was_deleted() -> None:
    row = _row(PLAIN, _rewritten("remove"))
    assert row.auc.value == pytest.approx(0.5)
    assert row.accuracy == pytest.approx(0.5)


def test_a_text_in_which_one_illness_stands_for_another_still_speaks_of_illness() -> None:
    assert _row(PLAIN, _rewritten("semantic-replacement")).auc.low > 0.75


def test_the_same_generator_gives_the_same_row() -> None:
    one, same = (replace(_row(*_noise(1.0), "mlp"), seconds=0.0) for _ in range(2))
    assert one == same


def _score(separation: float, rng: np.random.Generator, rows: int = 60) -> ProbeScore:
    chances = np.concatenate([rng.normal(separation, 1, rows), rng.normal(0, 1, rows)])
    present = np.arange(2 * rows) < rows
    wins = np.mean(chances[present][:, None] > chances[~present][None, :])
    return ProbeScore(auc=float(wins), accuracy=0.0, chances=chances, present=present)


def test_the_interval_covers_the_true_auc_about_95_times_in_100() -> None:
    rng = np.random.default_rng(5)
    # Two bells of width one whose centres are one apart: a draw from the first is above one from the other this often.
    truth = 0.7602499
    found = [probing._interval(_score(1.0, rng), rng) for _ in range(200)]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.89 <= covered <= 0.99


def test_the_interval_counts_ties_as_half() -> None:
    score = ProbeScore(auc=0.5, accuracy=0.5, chances=np.full(20, 0.3), present=np.arange(20) < 10)
    found = probing._interval(score, np.random.default_rng(0))
    assert (found.low, found.high) == (0.5, 0.5)
