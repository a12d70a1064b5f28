"""Effort of an experiment: sizes, seeds and settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from reproduction.datasets import Sizes
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError

GUIDE = "mlc,batch_size=256,epochs=40,patience=6"
"""A quickly trained MLC."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much work goes into an experiment.

    Attributes:
        name: Of the effort; its tables go into a folder of that name.
        sizes: How much of each data set is used.
        contrast: Contrast pairs that shapes are learned from at most; None for all, as the paper's mask needs.
        seeds: Repetitions, each with its own split, shapes, noise and attackers.
        mlc: The attack MLC with its settings.
        adapted: Settings of a generative attack that starts from a prior.
        scratch: Settings of one that starts from nothing: small, as it is trained for every line of a table.
        literal: How many epsilons of a table are run on the literal scale too, the largest first; None for all.
        epsilons: Most epsilons of the search for λ; None for all.
        words: Words of a group that are looked at one by one; None for all.
        runs: Vectors that are protected one by one to take the time of.
        samples: Numbers of contrast pairs for which learning is timed.
    """

    name: str
    sizes: Sizes
    contrast: int | None
    seeds: tuple[int, ...]
    mlc: str
    adapted: str
    scratch: str
    literal: int | None
    epsilons: int | None
    words: int | None
    runs: int
    samples: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.seeds:
            raise InvalidInputError("an experiment needs a seed at least, got none")

    def with_seeds(self, count: int) -> Self:
        """Return the same work, repeated with `count` seeds; those that it shares with this one are not run again."""
        return replace(self, seeds=tuple(range(at_least(count, 1, "--seeds"))))


FULL = Effort(
    name="full",
    sizes=Sizes(),
    contrast=None,
    seeds=(0, 1, 2, 3, 4),
    mlc="mlc,batch_size=256,epochs=60,patience=8",
    adapted="epochs=4",
    scratch="epochs=20,layers=2,width=128,vocabulary=4000,learning_rate=0.003,batch_size=32",
    literal=None,
    epsilons=None,
    words=None,
    runs=10_000,
    samples=(1000, 2000, 5000, 10_000, 20_000),
)
QUICK = Effort(
    name="quick",
    sizes=Sizes(texts=1500, pairs=1000, queries=100, documents=800),
    contrast=2000,
    seeds=(0,),
    mlc=GUIDE,
    adapted="epochs=2",
    scratch="epochs=3,layers=1,width=128,vocabulary=2000,learning_rate=0.003,batch_size=32",
    literal=1,
    epsilons=2,
    words=2,
    runs=1000,
    samples=(1000, 2000),
)
