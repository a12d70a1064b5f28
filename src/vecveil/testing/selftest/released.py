"""Whether releases, made as a user makes them, ever share their noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vecveil.core.digests import text_digest
from vecveil.core.key import Key
from vecveil.embedders import Fingerprint
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.finding import Finding
from vecveil.veil.protection import BLOCK_NUMBERS, Protection
from vecveil.veil.provenance import Provenance
from vecveil.veil.typical import TypicalLengths
from vecveil.veil.veil import Veil

DIMENSIONS = 384
ROWS = 3 * (BLOCK_NUMBERS // DIMENSIONS) + 7
"""More than three blocks, which cores share."""

SUBJECT = "releases"


def released_findings() -> Iterator[Finding]:
    """Yield what is found about releases of one vector, many times over. None has a chance worth the name in it."""
    veil = _veil()
    names = [text_digest(f"record {row}") for row in range(ROWS)]
    first, second = (_released(veil.protection(), None) for _ in range(2))
    yield Finding.without_chance(SUBJECT, "no two rows alike, fresh noise", _all_differ(first))
    yield Finding.without_chance(SUBJECT, "no two releases alike", _all_differ(np.concatenate([first, second])))
    keyed = veil.protection(key=Key.new())
    once, again = (_released(keyed, names) for _ in range(2))
    yield Finding.without_chance(SUBJECT, "no two rows alike, noise from a key", _all_differ(once))
    yield Finding.without_chance(SUBJECT, "the same again with a key", np.array_equal(once, again))
    parts = [_released(keyed, names[start : start + 100]) for start in range(0, ROWS, 100)]
    yield Finding.without_chance(SUBJECT, "the same in parts", np.array_equal(once, np.concatenate(parts)))
    other = _released(veil.protection(key=Key.new()), names)
    yield Finding.without_chance(
        SUBJECT, "nothing in common with another key", _all_differ(np.concatenate([once, other]))
    )


def _released(protection: Protection, names: list[bytes] | None) -> NDArray[np.float32]:
    rows = ROWS if names is None else len(names)
    clean = np.full((rows, DIMENSIONS), 1 / np.sqrt(DIMENSIONS), dtype=np.float32)
    return protection.release(clean, names=names)


def _all_differ(rows: NDArray[np.float32]) -> bool:
    """Return whether no two rows are equal in their first or in their last numbers."""
    few = 8
    return all(len({part.tobytes() for part in rows[:, half]}) == len(rows) for half in (slice(few), slice(-few, None)))


def _veil() -> Veil:
    return Veil(
        shape=NoiseShape(variances=np.ones(DIMENSIONS)),
        mechanism="laplace",
        fingerprint=Fingerprint(model="selftest", revision="", dimensions=DIMENSIONS, normalised=True),
        typical=TypicalLengths(signal=1.0, pair=0.5, euclidean_pair=0.5),
        provenance=Provenance(
            concept={}, contrast="none", pairs=0, embedder=None, learner={"name": "uniform"}, facts={}, seed=0
        ),
        epsilon=2.0 * DIMENSIONS,
    )
