"""Timing."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Work = Callable[[], object]

THREADS = "OMP_NUM_THREADS"


def best_seconds(works: Mapping[str, Work], *, rounds: int) -> dict[str, float]:
    """Return the shortest time of each.

    All of them run in turn, so that a machine's slow moments fall on none alone, and the shortest time is the one that
    other programs have disturbed least.
    """
    best = dict.fromkeys(works, math.inf)
    for _ in range(rounds):
        for name, work in works.items():
            started = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Let noise be made on so many cores."""
    before = os.environ.get(THREADS)
    os.environ[THREADS] = str(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = before
