"""A mechanism as it is used: with noise from secure streams, drawn as a release draws it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.randomness import CIPHER_KEY_BYTES, START_BYTES, RowStreams, fresh_streams, keyed_streams
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.draws import stream_draws
from vecveil.testing.selftest.subjects import Subject


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
        """Return a noisy copy; the generator gives no more than the key, so that a run can be repeated."""
        streams = self._streams(len(embeddings), rng)
        return self.mechanism.release(embeddings, stream_draws(self.mechanism, streams)).astype(embeddings.dtype)

    def _streams(self, rows: int, rng: np.random.Generator) -> RowStreams:
        key = rng.bytes(CIPHER_KEY_BYTES)
        if self.keyed:
            return keyed_streams(key, [rng.bytes(START_BYTES) for _ in range(rows)])
        return RowStreams(key, fresh_streams(rows).starts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.mechanism, name)


def in_use(subject: Subject, *, keyed: bool = False) -> Subject:
    """Return a subject whose noise comes from streams."""
    return replace(subject, mechanism=cast(Mechanism, InUse(subject.mechanism, keyed=keyed)))
