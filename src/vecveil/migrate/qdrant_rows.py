"""Rows of Qdrant: which of their vectors is migrated, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.store import Id

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

UNNAMED = ""
"""What Qdrant calls a vector without a name, where it stands among others."""


def used_vector(client: QdrantClient, name: str, wanted: str | None) -> str | None:
    """Return the name of the vector that is migrated, or raise where it can't be told; None where it has no name.

    Args:
        client: An open client.
        name: Name of the collection.
        wanted: The vector's name, where someone has given it.
    """
    params: Any = client.get_collection(name).config.params.vectors
    if not isinstance(params, dict):
        if wanted is not None:
            raise InvalidInputError(f"vectors of {name} have no names, so none can be chosen, got {wanted!r}")
        params, chosen = {UNNAMED: params}, UNNAMED
    elif wanted is None and len(params) != 1:
        if not params:
            raise InvalidInputError(f"rows of {name} have no dense vectors, which alone can be migrated")
        raise InvalidInputError(
            f"rows of {name} have several vectors; name one (--vector-column): {', '.join(sorted(params))}"
        )
    else:
        chosen = next(iter(params)) if wanted is None else one_of(wanted, params, f"vector of {name}")
    if params[chosen].multivector_config is not None:
        raise InvalidInputError(
            f"rows of {name} have many vectors each in place of one (multivector_config), which can't be migrated"
        )
    return chosen or None


def other_vectors(client: QdrantClient, name: str, used: str | None) -> list[str]:
    """Return the names of the vectors that are not migrated, dense and sparse."""
    params = client.get_collection(name).config.params
    dense = [*params.vectors] if isinstance(params.vectors, dict) else []
    return sorted({*dense, *(params.sparse_vectors or {})} - {used})


def pages(client: QdrantClient, name: str, rows: int, *, whole: bool = True) -> Iterator[list[Any]]:
    """Yield a collection's points, at most `rows` at once; their ids alone unless they are wanted whole."""
    offset: Any = None
    while True:
        found, offset = client.scroll(name, limit=rows, offset=offset, with_vectors=whole, with_payload=whole)
        if found:
            yield found
        if offset is None:
            return


def all_ids(client: QdrantClient, name: str) -> set[Id]:
    """Return the ids of all rows."""
    return {id_of(point) for some in pages(client, name, 1000, whole=False) for point in some}


def id_of(point: Any) -> Id:
    """Return the id of a point."""
    return point.id if isinstance(point.id, int) else str(point.id)


def vectors_in(points: Sequence[Any], using: str | None, *, first_row: int = 0) -> Embeddings:
    """Return one vector of each point, or raise with the number of the first row that has none."""
    rows = [one.vector.get(using or UNNAMED) if isinstance(one.vector, dict) else one.vector for one in points]
    missing = next((row for row, vector in enumerate(rows) if vector is None), None)
    if missing is not None:
        raise InvalidInputError(f"row {first_row + missing} has no vector")
    return np.asarray(rows, dtype=np.float32)
