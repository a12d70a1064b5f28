"""The attack that a learner looks through. Shapes know it by these protocols alone; a veil hands one in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.progress import Progress, silent
from vecveil.shapes.corpus import WordedVectors

if TYPE_CHECKING:
    import torch


@runtime_checkable
class DifferentiableAttack(Protocol):
    """A trained attack that says how sure it is of each sensitive word, as a function that has gradients."""

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The sensitive words that the attack knows."""
        ...

    @property
    def network(self) -> torch.nn.Module:
        """Float32 vectors, one per row, to one logit per word of the vocabulary; in evaluation mode."""
        ...


class Attacker(WordedVectors, Protocol):
    """Someone who holds a corpus, and can be trained on any release of its vectors.

    The white-box learner trains it once, on the clean vectors; one that goes in rounds trains it on each release.
    """

    @property
    def held_out(self) -> Sequence[int]:
        """Rows that no attack is trained on: training stops by them, and what it has learned is measured on them."""
        ...

    def train(
        self, vectors: Embeddings, rng: np.random.Generator, *, progress: Progress = silent
    ) -> DifferentiableAttack:
        """Return the attack as trained on `vectors`: one row per text of the corpus, in its order, as released.

        The same vectors and generator state give the same attack.
        """
        ...
