"""A migration, and the check that its shadow holds what it should."""

from __future__ import annotations

import numpy as np

from support.stores import Place, vectors_in
from vecveil.core.arrays import Embeddings
from vecveil.migrate import Migration, migrate
from vecveil.veil import Guard


def migrated(
    place: Place, guard: Guard, *, keep_texts: bool = False, seal: bool = False, batch_rows: int = 5
) -> Migration:
    """Migrate the notes of a store."""
    with place.opened() as store:
        return migrate(store, guard, keep_texts=keep_texts, seal=seal, batch_rows=batch_rows)


def require_sealed(place: Place, name: str, guard: Guard, vectors: Embeddings) -> None:
    """Raise unless every row of a collection has the seal of its clean vector, in the rows' order."""
    found = dict(sorted(place.seals(name).items(), key=lambda pair: _number(pair[0])))
    assert len(found) == len(vectors)
    assert np.allclose(guard.sealer.open([*found.values()], [*found]), vectors, atol=1e-3)


def _number(name: object) -> int:
    """Return the number at the end of an id: other stores sort ids as texts."""
    return int("".join(filter(str.isdigit, str(name))))


def require_protected(place: Place, guard: Guard) -> None:
    """Raise unless the shadow has what the guard makes of each row, brought to length one."""
    before, shadow = place.rows("notes"), place.rows("notes-vecveil")
    assert before is not None
    assert shadow is not None
    assert list(shadow) == list(before)
    expected = guard.protect_vectors(vectors_in(before), ids=list(before)).astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors_in(shadow), expected, atol=1e-6)
