from __future__ import annotations

import os
import time

import pytest

from vecveil.bench.timing import THREADS, best_seconds, on_cores
from vecveil.core.threads import cores


def test_works_run_in_turn_and_the_shortest_time_counts() -> None:
    order: list[str] = []
    pauses = iter([0.03, 0.0, 0.02])

    def first() -> None:
        order.append("first")
        time.sleep(next(pauses))

    took = best_seconds({"first": first, "second": lambda: order.append("second")}, rounds=3)
    assert order == ["first", "second"] * 3
    assert set(took) == {"first", "second"}
    assert took["first"] < 0.02


def test_cores_are_limited_within_and_free_again_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(THREADS, raising=False)
    with on_cores(1):
        assert cores() == 1
    assert THREADS not in os.environ
    monkeypatch.setenv(THREADS, "7")
    with on_cores(1):
        assert cores() == 1
    assert os.environ[THREADS] == "7"
