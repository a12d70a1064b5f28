"""How many cases of each kind are tried, from which seed, and what came of them."""

from __future__ import annotations

import os
import random
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

FULL = "full"
SIZE, SEED, CASE = "VECVEIL_REDTEAM", "VECVEIL_REDTEAM_SEED", "VECVEIL_REDTEAM_CASE"
"""Variables: `full` or `short`; the seed; the number of the one case that is to be repeated."""

CASES = {
    "requests": (5000, 300),
    "veils": (2000, 120),
    "files": (500, 32),
    "kills: protect": (60, 2),
    "kills: learn": (30, 2),
    "kills: audit": (30, 2),
    "kills: migrate": (50, 2),
    "kills: gateway": (30, 2),
}
"""Cases of each kind, in the full and in the short form."""

MOST_SHOWN = 100
"""Failures that a message holds."""


def is_full() -> bool:
    """Return whether the full form is asked for."""
    size = os.environ.get(SIZE, "short")
    assert size in {FULL, "short"}, f"{SIZE} must be full or short, got {size!r}"
    return size == FULL


@dataclass(kw_only=True)
class Campaign:
    """All cases of one kind.

    Attributes:
        kind: Which.
        wanted: How many.
        seed: What they are drawn from.
        only: Number of the one case to try; None for all.
        counts: How often each thing happened.
        failures: What must not happen, with all that it takes to repeat it.
        started: When it began.
    """

    kind: str
    wanted: int
    seed: int
    only: int | None = None
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def named(cls, kind: str) -> Campaign:
        """Return the campaign of that kind, of the size and seed that the environment asks for."""
        full, short = CASES[kind]
        only = os.environ.get(CASE)
        return cls(
            kind=kind,
            wanted=full if is_full() else short,
            seed=int(os.environ.get(SEED, "0")),
            only=None if only is None else int(only),
        )

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of all cases; there may be more of them than are wanted, where one counts for several."""
        if self.only is not None:
            yield self.only
        else:
            number = 0
            while self.counts["cases"] < self.wanted:
                yield number
                number += 1

    def rng(self, number: int) -> random.Random:
        """Return the random numbers of one case: the same whichever cases are tried beside it."""
        return random.Random(f"{self.kind} {self.seed} {number}")  # noqa: S311

    @contextmanager
    def case(self, number: int) -> Iterator[list[str]]:
        """Take down what fails in the block, and go on; the block may say what the case is."""
        said: list[str] = []
        try:
            yield said
        except Exception as error:  # noqa: BLE001
            where = traceback.extract_tb(error.__traceback__)[-1]
            again = f"{SEED}={self.seed} {CASE}={number}"
            what = f"{type(error).__name__}: {error}"[:1500]
            place = f"{os.path.basename(where.filename)}:{where.lineno}"  # noqa: PTH119
            self.failures.append(f"{self.kind}, case {number} ({again}), {' '.join(said)[:500]}\n    {place} {what}")

    def figures(self) -> dict[str, int | float | str]:
        """Return what came of it, for the table."""
        return {
            "kind": self.kind,
            "seed": self.seed,
            **dict(sorted(self.counts.items())),
            "failures": len(self.failures),
            "seconds": round(time.monotonic() - self.started, 1),
        }

    def require_none_failed(self) -> None:
        """Raise where any case failed."""
        assert not self.failures, f"{len(self.failures)} failed:\n" + "\n".join(self.failures[:MOST_SHOWN])
