"""A mechanism as it is used: with noise from secure streams, drawn as a release draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.randomness import CIPHER_KEY_BYTES, START_BYTES, RowStreams, counted_starts, keyed_streams
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.draws import stream_draws
from vecveil.mechanisms.grid import Grid
from vecveil.testing.selftest.subjects import Subject

SIGNAL = 1.0
"""Length for which the grid is made: known before, and the same whatever is released."""


@dataclass(frozen=True)
class InUse:
    """A mechanism whose noise comes from streams, in place of a generator.

    Attributes:
        mechanism: The mechanism.
        keyed: Whether streams begin anywhere, as those of an owner's key do, and not one after the other.
    """

    mechanism: Mechanism
    keyed: bool = False

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a noisy copy on the grid; the generator gives no more than the key, so that a run can be repeated."""
        streams = self._streams(len(embeddings), rng)
        released = self.mechanism.release(embeddings, stream_draws(self.mechanism, streams))
        # Without the grid, the last bits of a double tell of what was taken away along axes that are not released.
        grid = Grid.of("float32", coordinate=self.mechanism.released_length(SIGNAL) / math.sqrt(released.shape[1]))
        return grid.rounded(released).astype(embeddings.dtype)

    def _streams(self, rows: int, rng: np.random.Generator) -> RowStreams:
        key = rng.bytes(CIPHER_KEY_BYTES)
        if self.keyed:
            return keyed_streams(key, [rng.bytes(START_BYTES) for _ in range(rows)])
        return RowStreams(key, counted_starts(rows))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.mechanism, name)


def in_use(subject: Subject, *, keyed: bool = False) -> Subject:
    """Return a subject whose noise comes from streams."""
    return replace(subject, mechanism=cast(Mechanism, InUse(subject.mechanism, keyed=keyed)))
