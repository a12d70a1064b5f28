"""What a shape is learned from: embeddings with the concept, beside embeddings without it."""

from __future__ import annotations

from dataclasses import dataclass

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class ContrastPairs:
    """Row i of `with_concept` is a text that holds the concept; row i of `without_concept` is it with that removed."""

    with_concept: Embeddings
    without_concept: Embeddings

    def __post_init__(self) -> None:
        first = embeddings(self.with_concept, name="vectors with the concept")
        second = embeddings(self.without_concept, dimensions=first.shape[1], name="vectors without the concept")
        if first.shape[0] != second.shape[0]:
            raise InvalidInputError(f"contrast pairs must match one to one, got {first.shape[0]} and {second.shape[0]}")
        if first.shape[0] < 2:
            raise InvalidInputError(f"a shape needs at least 2 contrast pairs, got {first.shape[0]}")

    def __len__(self) -> int:
        return int(self.with_concept.shape[0])

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.with_concept.shape[1])
