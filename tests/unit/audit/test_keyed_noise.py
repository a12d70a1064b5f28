from __future__ import annotations

import numpy as np
import pytest
from support.corpora import toy_corpus
from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors

from vecveil.attacks.averaging import Averaging
from vecveil.attacks.nearest import NearestNeighbour
from vecveil.audit.attacking import Attacker
from vecveil.audit.budgets import Budget
from vecveil.audit.defences import Defence, noise_defence
from vecveil.audit.encoding import Memory
from vecveil.audit.results import AttackRow, Setting
from vecveil.concepts import Passage
from vecveil.core.key import Key

K = 16


def _defence(name: str, ratio: float, *, keyed: bool) -> tuple[Setting, Defence]:
    budget = Budget(value=ratio, scale="noise-ratio")
    return noise_defence(name, budget, veil=made_veil(), pairs=toy_corpus().pairs, seed=0, keyed=keyed)


def _error(name: str, *, keyed: bool, times: int) -> float:
    clean = unit_vectors(2000, seed=3)
    passages = [Passage(f"text {number}") for number in range(len(clean))]
    _, defence = _defence(name, 1.0, keyed=keyed)
    released = defence.release(passages, clean, np.random.default_rng(5), times=times)
    return float(np.sqrt(np.mean(np.sum((released - clean) ** 2, axis=1))))


@pytest.mark.parametrize("name", ["laplace", "veil"])
def test_fresh_noise_averages_away_as_the_root_of_k_and_keyed_noise_stays(name: str) -> None:
    fresh = _error(name, keyed=False, times=1) / _error(name, keyed=False, times=K)
    keyed = _error(name, keyed=True, times=1) / _error(name, keyed=True, times=K)
    # 2,000 rows of a length whose spread is a third of it: the ratio is known to about 1 %.
    assert fresh == pytest.approx(np.sqrt(K), rel=0.05)
    assert keyed == pytest.approx(1.0, rel=1e-6)


def test_protecting_again_with_a_key_gives_nothing_to_average() -> None:
    veil, clean, key = made_veil(epsilon=8.0), unit_vectors(500), Key.new()
    again = [veil.perturb(clean, key=key) for _ in range(4)]
    assert all(release.tobytes() == again[0].tobytes() for release in again)
    fresh = np.mean([veil.perturb(clean) for _ in range(4)], axis=0) - clean
    single = veil.perturb(clean) - clean
    assert np.linalg.norm(single) / np.linalg.norm(fresh) == pytest.approx(2.0, rel=0.1)


def _read(attack: Averaging | NearestNeighbour, *, keyed: bool) -> AttackRow:
    corpus, embed = toy_corpus(), Memory(WordEmbedder())
    attacker = Attacker(corpus=corpus, embed=embed, judge=None, copies=1, examples=0)
    setting, defence = _defence("laplace", 1.5, keyed=keyed)
    return attacker.attack("attack", attack, setting, defence, np.random.default_rng(2)).row


def test_the_averaging_attack_gains_nothing_from_keyed_noise_and_much_from_fresh_noise() -> None:
    averaging, single = Averaging(base="nearest", releases=K), NearestNeighbour()
    fresh = [_read(attack, keyed=False).leakage.value for attack in (single, averaging)]
    keyed = [_read(attack, keyed=True).leakage.value for attack in (single, averaging)]
    assert keyed[0] == keyed[1]
    assert fresh[1] > fresh[0] + 0.2
