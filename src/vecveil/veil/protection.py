"""How records are protected: with which veil, at which budget, with noise from where, and on which grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecveil.accounting.ledger import Charge
from vecveil.core.arrays import Embeddings, in_one_piece
from vecveil.core.checks import embeddings, rows_of
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError
from vecveil.core.key import Key
from vecveil.core.late import loops
from vecveil.core.room import KeptRoom, Room, new_room
from vecveil.core.threads import in_blocks
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.grid import Grid
from vecveil.veil.noise import FreshNoise, KeyedNoise, NoiseSource, SeededNoise

if TYPE_CHECKING:
    from vecveil.veil.veil import Veil


BLOCK_NUMBERS = 3 << 16
"""Numbers that are protected together. Fewer mean more waiting for Python, and more mean waiting for memory."""


LENGTH_TOLERANCE = 0.01
"""How far the length of a vector of length one may be off, in numbers of whichever precision."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Protection:
    """A veil at one budget, ready to release vectors.

    Attributes:
        veil: What to protect with.
        epsilon: Literal budget.
        noise: Where the noise comes from.
        grid: What releases are rounded to.
    """

    veil: Veil
    epsilon: float
    noise: NoiseSource
    grid: Grid

    @classmethod
    def of(
        cls,
        veil: Veil,
        *,
        epsilon: float,
        key: Key | None = None,
        rng: np.random.Generator | None = None,
        grid: str = "float32",
    ) -> Protection:
        """Return the protection with noise from a key, from a caller's generator, or from secure streams."""
        if key is not None and rng is not None:
            raise InvalidInputError("noise comes from a key or from a seeded generator, got both")
        noise: NoiseSource = FreshNoise()
        if rng is not None:
            noise = SeededNoise(rng)
        elif key is not None:
            noise = KeyedNoise(key=key, veil=veil.digest(), epsilon=epsilon)
        return cls(veil=veil, epsilon=epsilon, noise=noise, grid=veil.grid_at(epsilon, grid))

    @property
    def keyed(self) -> bool:
        """Whether the noise depends on what a record is called."""
        return isinstance(self.noise, KeyedNoise)

    def release(self, vectors: Embeddings, *, names: Sequence[bytes] | None = None, first_row: int = 0) -> NDArray[Any]:
        """Return protected copies of `vectors`.

        Args:
            vectors: One row per record, as the veil's embedder makes them.
            names: What the records are called, as digests of 32 bytes, where the noise depends on it. Another content
                needs another name: under the same one, the difference of two releases is that of the clean vectors.
            first_row: Number of the first row in an error, where `vectors` are a part of something larger.
        """
        clean = rows_of(vectors, dimensions=self.veil.fingerprint.dimensions)
        if self.keyed and (names is None or len(names) != len(clean)):
            raise InvalidInputError(f"keyed noise needs a name for each of the {len(clean)} records")
        called = [b""] * len(clean) if names is None else names
        protected = np.empty(clean.shape, dtype=self.grid.dtype)

        def release(rows: slice) -> None:
            self._require_possible(clean[rows], first_row + rows.start)
            draws = self.noise.draws(self._mechanism, called[rows], room=room)
            released = self._mechanism.release(clean[rows], draws)
            # A function of the release alone: free of charge, whatever it does.
            filled = released if self.veil.filling is None else self.veil.filling(released, room=room)
            self.grid.rounded(filled, out=protected[rows])

        block = max(1, BLOCK_NUMBERS // clean.shape[1]) if self.noise.by_row else max(1, len(clean))
        room: Room = new_room if len(clean) <= block else KeptRoom()
        in_blocks(len(clean), block, release)
        return protected

    def checked(self, vectors: Embeddings, *, first_row: int = 0) -> Embeddings:
        """Return `vectors`, or raise with the row at fault unless the veil's model can have made them."""
        clean = rows_of(vectors, dimensions=self.veil.fingerprint.dimensions)
        self._require_possible(clean, first_row)
        return clean

    def label(self) -> dict[str, Any]:
        """Return what an output says of how it was made; nothing in it is secret."""
        promise = self._mechanism.guarantee()
        ratio = self._mechanism.noise_ratio(self.veil.typical.signal)
        return {
            "vecveil": version("vecveil"),
            "veil": self.veil.digest(),
            "mechanism": self.veil.mechanism,
            "epsilon": self.epsilon,
            "distance": promise.distance,
            # JSON has no word for a ratio without end, as that of directions of which nothing is left.
            "noise_ratio": ratio if math.isfinite(ratio) else None,
            "noise": self.noise.label,
            "grid": asdict(self.grid),
            **({"key": self.noise.key.fingerprint} if isinstance(self.noise, KeyedNoise) else {}),
        }

    def charge(self, run: str) -> Charge:
        """Return what one release costs a record."""
        return Charge(
            run=run,
            kind="release",
            veil=self.veil.digest(),
            mechanism=self.veil.mechanism,
            epsilon=self.epsilon,
            distance=self._mechanism.guarantee().metric,
            cost=self._mechanism.euclidean_loss(),
            noise=self.noise.kind,
        )

    def _require_possible(self, clean: Embeddings, first_row: int) -> None:
        model = self.veil.fingerprint
        if not model.normalised:
            embeddings(clean, first_row=first_row)
            return
        wrong = loops().first_of_other_length(in_one_piece(clean), 2 * LENGTH_TOLERANCE)
        if wrong >= 0:
            # What is wrong in itself is said first.
            embeddings(clean, first_row=first_row)
            raise EmbedderMismatchError(
                f"{model.model} makes vectors of length 1, row {first_row + wrong} has another length; "
                "normalise them, or learn a veil for the model that made them"
            )

    @cached_property
    def _mechanism(self) -> Mechanism:
        return self.veil.mechanism_at(self.epsilon)
