"""What every shape learner must do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from vecveil.core.progress import Progress, silent
from vecveil.shapes.attacker import Attacker
from vecveil.shapes.corpus import WordedVectors
from vecveil.shapes.pairs import ContrastPairs
from vecveil.shapes.shape import NoiseShape


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedShape:
    """A learned shape and what was noticed while learning it.

    Attributes:
        shape: Where the noise goes.
        facts: Numbers worth printing, by name: realised sparsity, held-out accuracy, and the like.
    """

    shape: NoiseShape
    facts: Mapping[str, float] = field(default_factory=dict)


class ShapeLearner(Protocol):
    """Settings that turn contrast pairs into a shape. A dataclass: its fields are what users may set."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]]

    def fit(self, pairs: ContrastPairs, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape for `pairs`; the same pairs and generator state give the same shape."""
        ...


@runtime_checkable
class CorpusLearner(ShapeLearner, Protocol):
    """A learner that reads more than the contrast pairs: all of the corpus, and which words stand in which text."""

    reads_corpus: ClassVar[bool]

    def fit(
        self,
        pairs: ContrastPairs,
        rng: np.random.Generator,
        *,
        corpus: WordedVectors | None = None,
        progress: Progress = silent,
    ) -> FittedShape:
        """Return the shape for `pairs` and `corpus`; without a corpus there is nothing to learn, which is an error."""
        ...


@runtime_checkable
class AdversarialLearner(ShapeLearner, Protocol):
    """A learner that looks through an attack: a veil trains the one that it names, and hands it in."""

    @property
    def attack(self) -> str:
        """Name of the attack."""
        ...

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        """Settings of that attack, over its defaults."""
        ...

    def fit(
        self,
        pairs: ContrastPairs,
        rng: np.random.Generator,
        *,
        attacker: Attacker | None = None,
        progress: Progress = silent,
    ) -> FittedShape:
        """Return the shape for `pairs`; without an attacker there is nothing to look through, which is an error."""
        ...
