"""How cost grows with the length of vectors, with rows and with contrast pairs, on one core and on two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vecveil.bench.effort import Effort
from vecveil.bench.learning import contrast_pairs, fitting, labelled_corpus
from vecveil.bench.noise import DEFAULT, DENSE, DIAGONAL, LAPLACE, PURKAYASTHA, perturbing
from vecveil.bench.subjects import unit_vectors, veils
from vecveil.bench.timing import best_seconds, on_cores
from vecveil.core.threads import cores

ROWS = 1000
"""Of a batch whose vectors get longer."""

NARROW = 64
"""Length of vectors of which there are more and more."""

LEARNED = 384
LEARNERS = ("canonical", "difference")


@dataclass(frozen=True, kw_only=True)
class Series:
    """A cost over a size.

    Attributes:
        name: What was done.
        size: What grows.
        sizes: Its values.
        seconds: The time at each.
    """

    name: str
    size: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def slope(self) -> float:
        """The exponent of the power of the size that the time grows with, from the larger half of the sizes."""
        half = len(self.sizes) // 2
        return float(np.polyfit(np.log(self.sizes[half - 1 :]), np.log(self.seconds[half - 1 :]), 1)[0])


def growth(effort: Effort) -> Iterator[Series]:
    """Yield how each cost grows."""
    yield from _by_dimensions(effort)
    yield from _by_rows(effort)
    yield from _by_pairs(effort)


def _by_dimensions(effort: Effort) -> Iterator[Series]:
    names = (LAPLACE, DIAGONAL, DEFAULT, DENSE, PURKAYASTHA)
    found: dict[str, list[float]] = {name: [] for name in names}
    for dimensions in effort.dimensions:
        vectors, made = unit_vectors(ROWS, dimensions), veils(dimensions)
        works = {name: perturbing(made[name], vectors) for name in names}
        took = best_seconds(works, rounds=effort.rounds)
        for name in names:
            found[name].append(took[name])
    for name, seconds in found.items():
        title = f"{name}, {ROWS:,} vectors"
        yield Series(name=title, size="length of a vector", sizes=effort.dimensions, seconds=tuple(seconds))


def _by_rows(effort: Effort) -> Iterator[Series]:
    made = veils(NARROW)
    for count in sorted({1, cores()}):
        for name in (LAPLACE, DEFAULT):
            seconds = []
            for rows in effort.batches:
                work = perturbing(made[name], unit_vectors(rows, NARROW))
                with on_cores(count):
                    took = best_seconds({name: work}, rounds=max(1, effort.rounds // 3))
                seconds.append(took[name])
            title = f"{name}, vectors of {NARROW}, on {count} core{'s' if count > 1 else ''}"
            yield Series(name=title, size="vectors", sizes=effort.batches, seconds=tuple(seconds))


def _by_pairs(effort: Effort) -> Iterator[Series]:
    for name in LEARNERS:
        seconds = []
        for count in effort.corpora:
            work = fitting(name, contrast_pairs(count, LEARNED), labelled_corpus(count, LEARNED))
            seconds.append(best_seconds({name: work}, rounds=1)[name])
        title = f"learning {name}, vectors of {LEARNED}"
        yield Series(name=title, size="contrast pairs", sizes=effort.corpora, seconds=tuple(seconds))
