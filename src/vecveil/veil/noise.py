"""Where the noise of a release comes from: fresh, from the owner's key, or from a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from vecveil.core.key import Key
from vecveil.core.randomness import keyed_starts, keyed_streams
from vecveil.core.room import Room, new_room
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.draws import Draws, fresh_draws, generator_draws, stream_draws

TOKEN_BYTES = 16

SCHEME = "aes-256 loops"
"""How noise is made of a key. Another way is another release of a record, so the names of its noise change with it."""


class NoiseSource(Protocol):
    """Draws what a mechanism needs, and names what was drawn."""

    kind: ClassVar[str]
    label: ClassVar[str]
    by_row: ClassVar[bool]
    """Whether each row's noise is its own, so that rows can be drawn in any parts and order."""

    def draws(self, mechanism: Mechanism, records: Sequence[bytes], *, room: Room = new_room) -> Draws:
        """Return the random numbers for each of `records`, in memory from `room`."""
        ...


@dataclass(frozen=True)
class FreshNoise:
    """Noise under a new key of the operating system's at each call."""

    kind: ClassVar[str] = "fresh"
    label: ClassVar[str] = "secure streams, drawn once per row"
    by_row: ClassVar[bool] = True

    def draws(self, mechanism: Mechanism, records: Sequence[bytes], *, room: Room = new_room) -> Draws:
        """Return fresh numbers."""
        return fresh_draws(mechanism, len(records), room=room)


def seeded_generator(seed: int) -> np.random.Generator:
    """Return a generator whose numbers anyone with the seed can have again."""
    return np.random.default_rng(seed)


@dataclass(frozen=True, eq=False)
class SeededNoise:
    """Noise that anyone with the seed can take off again: for tests and published experiments.

    Attributes:
        rng: A generator of the caller's.
    """

    kind: ClassVar[str] = "seeded"
    label: ClassVar[str] = "seeded: not private"
    by_row: ClassVar[bool] = False

    rng: np.random.Generator

    def draws(self, mechanism: Mechanism, records: Sequence[bytes], *, room: Room = new_room) -> Draws:
        """Return the generator's next numbers."""
        del room
        return generator_draws(mechanism, len(records), self.rng)


@dataclass(frozen=True, kw_only=True)
class KeyedNoise:
    """Noise that the same record gets again, under the same veil and budget, wherever it is protected.

    Attributes:
        key: The owner's secret.
        veil: Digest of the veil.
        epsilon: The budget.
    """

    kind: ClassVar[str] = "keyed"
    label: ClassVar[str] = "keyed, the same again for the same record; equal records are equal"
    by_row: ClassVar[bool] = True

    key: Key
    veil: str
    epsilon: float
    _release: Key = field(init=False, repr=False)
    _cipher: bytes = field(init=False, repr=False)
    _starts: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # A key for this veil and this budget: another of either gives noise that has nothing to do with this.
        context = f"{SCHEME} {self.veil} {float(self.epsilon).hex()}".encode()
        object.__setattr__(self, "_release", Key(self.key.derive(b"vecveil release", context)))
        object.__setattr__(self, "_cipher", self._release.derive(b"vecveil cipher", b""))
        object.__setattr__(self, "_starts", self._release.derive(b"vecveil starts", b""))

    def draws(self, mechanism: Mechanism, records: Sequence[bytes], *, room: Room = new_room) -> Draws:
        """Return the numbers of each record."""
        streams = keyed_streams(self._cipher, keyed_starts(self._starts, records))
        return stream_draws(mechanism, streams, room=room)

    def tokens(self, records: Sequence[bytes]) -> list[bytes]:
        """Return a name for the noise of each record, which tells nothing of the noise itself."""
        return [self._release.derive(b"vecveil token", record)[:TOKEN_BYTES] for record in records]


def row_tokens(run: str, first_row: int, rows: int) -> list[bytes]:
    """Return a name for the noise of each row of a run that draws afresh; a resumed run gives the same names."""
    start = bytes.fromhex(run)
    places = range(first_row, first_row + rows)
    return [hashlib.blake2b(start + row.to_bytes(8, "little"), digest_size=TOKEN_BYTES).digest() for row in places]
