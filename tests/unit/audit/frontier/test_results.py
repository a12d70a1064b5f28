from __future__ import annotations

import numpy as np
import pytest

from vecveil.audit.frontier.results import FrontierResult, FrontierRow, mean_over_seeds


def _row(attack: str, leakage: float, *, chance: float = 0.1, seed: int = 0, level: float = 0.9) -> FrontierRow:
    return FrontierRow(
        contender="uniform",
        level=level,
        seed=seed,
        attack=attack,
        words=leakage,
        guess=chance,
        leakage=leakage,
        chance=chance,
        top_one=0.0,
        auc=0.5,
        seconds=1.0,
    )


def _result(*rows: FrontierRow) -> FrontierResult:
    plan = {"attacks": ["mlc", "nearest"]}
    return FrontierResult(plan=plan, utility={}, corpus={}, embedder={}, versions={}, choices=(), points=(), rows=rows)


def test_what_guessing_gives_is_nothing_that_an_attack_reads() -> None:
    assert _row("mlc", 0.5).excess == pytest.approx(0.4)
    assert _row("mlc", 0.05).excess == 0.0


def test_the_strongest_attack_counts_on_average_over_seeds() -> None:
    # One seed of mlc is above every seed of nearest, but not their mean.
    rows = _row("mlc", 0.8), _row("mlc", 0.1, seed=1), _row("nearest", 0.6), _row("nearest", 0.6, seed=1)
    found = _result(*rows).strongest("uniform", 0.9)
    assert found is not None
    assert (found[0], found[1].value) == ("nearest", pytest.approx(0.5))


def test_a_level_without_rows_has_no_strongest_attack() -> None:
    assert _result(_row("mlc", 0.8)).strongest("uniform", 0.8) is None
    assert _result(_row("mlc", 0.8)).strongest("canonical", 0.9) is None
    assert _result(_row("mlc", 0.8)).excess("uniform", 0.9, "nearest") is None


def test_an_interval_over_seeds_is_students() -> None:
    found = mean_over_seeds([0.1, 0.2, 0.3])
    assert found is not None
    assert found.value == pytest.approx(0.2)
    assert found.high - found.value == pytest.approx(4.302653 * 0.1 / np.sqrt(3), rel=1e-5)
    assert found.value - found.low == pytest.approx(found.high - found.value)


def test_one_seed_has_no_interval_and_none_has_no_mean() -> None:
    single = mean_over_seeds([0.3])
    assert single is not None
    assert (single.low, single.value, single.high) == (0.3, 0.3, 0.3)
    assert mean_over_seeds([]) is None
