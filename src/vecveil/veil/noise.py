"""Sources of noise: fresh, from the owner's key, or from a seed."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from vecveil.core.key import Key
from vecveil.core.randomness import START_BYTES, FreshRows, KeyedRows, RandomRows, SeededRows

SCHEME = "aes-256 rounded"
"""How noise is made of a key. Another way is another release of a record, so keys are derived anew with it."""


class NoiseSource(Protocol):
    """Gives each record its random numbers."""

    kind: ClassVar[str]
    """Name in a ledger."""

    label: ClassVar[str]
    """Name in the label of an output."""

    def rows(self, names: Sequence[bytes]) -> RandomRows:
        """Return the random numbers of records; where noise comes from a key, `names` are what `derive` returns."""
        ...

    def number(self, name: bytes) -> float:
        """Return a random number from 0 to 1, in steps of 2^-53; where it comes from a key, that of `name`."""
        ...


@dataclass(frozen=True)
class FreshNoise:
    """Noise under a new key of the operating system's at each call."""

    kind: ClassVar[str] = "fresh"
    label: ClassVar[str] = "secure streams, drawn once per row"

    def rows(self, names: Sequence[bytes]) -> RandomRows:
        """Return fresh rows."""
        return FreshRows(len(names))

    def number(self, name: bytes) -> float:
        """Return a fresh number."""
        del name
        return secrets.randbits(53) / 2**53


@dataclass(frozen=True, eq=False)
class SeededNoise:
    """Noise that anyone with the seed can take off again: for tests, audits and published experiments.

    Attributes:
        rng: A generator of the caller's.
    """

    kind: ClassVar[str] = "seeded"
    label: ClassVar[str] = "seeded: not private"

    rng: np.random.Generator

    def rows(self, names: Sequence[bytes]) -> RandomRows:
        """Return the generator's next numbers."""
        return SeededRows(self.rng, len(names))

    def number(self, name: bytes) -> float:
        """Return the generator's next number."""
        del name
        return float(self.rng.random())


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

    key: Key
    veil: str
    epsilon: float
    _names: bytes = field(init=False, repr=False)
    _cipher: bytes = field(init=False, repr=False)
    _words: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Keys for this veil and this budget: another of either gives noise that has nothing to do with this.
        context = f"{SCHEME} {self.veil} {float(self.epsilon).hex()}".encode()
        object.__setattr__(self, "_names", self.key.derive(b"vecveil names", context))
        object.__setattr__(self, "_cipher", self.key.derive(b"vecveil cipher", context))
        # Not of the budget: another noise on a vector must not draw its words anew, which would tell more of them.
        object.__setattr__(self, "_words", self.key.derive(b"vecveil words", f"{SCHEME} {self.veil}".encode()))

    def derive(self, noise_keys: Sequence[bytes]) -> list[bytes]:
        """Return 32 bytes for each record that nobody can compute without the key.

        The first half says where the record's stream of random numbers begins. The second half is the key of what a
        ledger calls its release, and tells nothing of the first.
        """
        return [hashlib.blake2b(one, key=self._names, digest_size=2 * START_BYTES).digest() for one in noise_keys]

    def rows(self, names: Sequence[bytes]) -> RandomRows:
        """Return the random numbers of each record."""
        starts = b"".join(name[:START_BYTES] for name in names)
        return KeyedRows(self._cipher, np.frombuffer(starts, dtype="<u8").reshape(len(names), 2))

    def number(self, name: bytes) -> float:
        """Return the number that belongs to a name."""
        digest = hashlib.blake2b(name, key=self._words, digest_size=8).digest()
        return (int.from_bytes(digest, "little") >> 11) / 2**53


def token_of(name: bytes, released: bytes) -> bytes:
    """Return what a ledger calls a release: equal tokens mean that the same record left in the same bytes.

    Args:
        name: What `KeyedNoise.derive` returned for the record.
        released: Its protected vector.
    """
    return hashlib.blake2b(released, key=name[START_BYTES:], digest_size=START_BYTES).digest()
