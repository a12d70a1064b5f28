"""The copy of a collection that a swap in Qdrant keeps: made by one shadow's swap, and gone on with by no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.errors import ArtifactError
from vecveil.migrate.qdrant_folder import LibraryErrors
from vecveil.migrate.qdrant_rows import all_ids, id_of, pages

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

BACKUP = "vecveil_backup_of"
"""Where a copy's metadata say which shadow's swap makes it: an older copy is one of another shadow."""

COPIED = 1000
"""Rows that are copied together."""


def is_copy(client: QdrantClient, name: str, made: str | None) -> bool:
    """Return whether a collection is the copy that the swap of the shadow `made` makes, whole or in part."""
    if not client.collection_exists(name):
        return False
    notes = client.get_collection(name).config.metadata or {}
    return BACKUP in notes and notes[BACKUP] == made


def is_part(client: QdrantClient, backup: str, collection: str) -> bool:
    """Return whether every row of a copy is in the collection as it is; one that is not may be the last of its kind."""
    for kept in pages(client, backup, COPIED):
        ids = [one.id for one in kept]
        found = client.retrieve(collection, ids=ids, with_vectors=True, with_payload=True)
        now = {id_of(one): one for one in found}
        if not all(id_of(one) in now and _same(one, now[id_of(one)]) for one in kept):
            return False
    return True


def copy_collection(client: QdrantClient, collection: str, backup: str, made: str | None) -> None:
    """Copy a collection, or go on with a copy that is part of it; afterwards both have the same rows.

    Args:
        client: An open client.
        collection: Name of the collection.
        backup: Name of the copy.
        made: Which shadow's swap it is.
    """
    from qdrant_client.models import PointStruct

    with LibraryErrors(f"{collection} could not be copied to {backup}"):
        if not client.collection_exists(backup):
            _create_like(client, collection, backup, made)
        known = all_ids(client, backup)
        for found in pages(client, collection, COPIED):
            missing = [one for one in found if id_of(one) not in known]
            points = [PointStruct(id=one.id, vector=one.vector or {}, payload=one.payload) for one in missing]
            if points:
                client.upsert(backup, points=points)
    if all_ids(client, backup) != all_ids(client, collection):
        raise ArtifactError(f"{backup} has not the same rows as {collection} after the copy; nothing was deleted")


def _create_like(client: QdrantClient, collection: str, backup: str, made: str | None) -> None:
    config = client.get_collection(collection).config
    client.create_collection(
        backup,
        vectors_config=config.params.vectors,
        sparse_vectors_config=config.params.sparse_vectors,
        on_disk_payload=config.params.on_disk_payload,
        metadata={**(config.metadata or {}), BACKUP: made},
    )


def _same(one: Any, other: Any) -> bool:
    return one.payload == other.payload and _same_vectors(one.vector, other.vector)


def _same_vectors(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same_vectors(one[name], other[name]) for name in one)
    if hasattr(one, "indices") and hasattr(other, "indices"):
        return [*one.indices] == [*other.indices] and _same_vectors(one.values, other.values)
    before, after = np.asarray(one or []), np.asarray(other or [])
    # Until it is read anew, a copy that is compared by angle has length one, which changes the last digits.
    return before.shape == after.shape and np.allclose(before, after, rtol=1e-5, atol=1e-7)
