"""Names in Qdrant, which renames no collection: an alias is moved, and what has no alias is copied and gets one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

BACKUP = "vecveil_backup_of"
"""Tells a copy that a swap has begun from a collection that someone made."""

COPIED = 1000
"""Rows that are copied together."""


def is_backup(client: QdrantClient, name: str) -> bool:
    """Return whether a collection is a copy that a swap made, whole or in part."""
    return client.collection_exists(name) and BACKUP in (client.get_collection(name).config.metadata or {})


def swap_names(client: QdrantClient, collection: str, shadow: str, backup: str) -> None:
    """Make `collection` an alias of `shadow`, and `backup` what it was before; go on where this was stopped."""
    from qdrant_client.models import (
        CreateAlias,
        CreateAliasOperation,
        DeleteAlias,
        DeleteAliasOperation,
    )

    to_shadow = CreateAliasOperation(create_alias=CreateAlias(collection_name=shadow, alias_name=collection))
    aliases = {alias.alias_name: alias.collection_name for alias in client.get_aliases().aliases}
    if collection in aliases:
        keep = CreateAlias(collection_name=aliases[collection], alias_name=backup)
        client.update_collection_aliases(
            change_aliases_operations=[
                DeleteAliasOperation(delete_alias=DeleteAlias(alias_name=collection)),
                CreateAliasOperation(create_alias=keep),
                to_shadow,
            ]
        )
        return
    others = sorted(name for name, leads_to in aliases.items() if leads_to == collection)
    if others:
        # They would go with the collection when it is deleted.
        raise InvalidInputError(
            f"{collection} has aliases ({', '.join(others)}): migrate by one of them, which is moved"
        )
    if client.collection_exists(collection):
        _copy(client, collection, backup)
        # A name can't be a collection's and an alias at once; for a moment it is neither.
        client.delete_collection(collection)
    client.update_collection_aliases(change_aliases_operations=[to_shadow])


def _copy(client: QdrantClient, collection: str, backup: str) -> None:
    from qdrant_client.models import PointStruct

    config = client.get_collection(collection).config
    if not client.collection_exists(backup):
        client.create_collection(
            backup,
            vectors_config=config.params.vectors,
            sparse_vectors_config=config.params.sparse_vectors,
            on_disk_payload=config.params.on_disk_payload,
            metadata={**(config.metadata or {}), BACKUP: collection},
        )
    offset: Any = None
    while True:
        found, offset = client.scroll(collection, limit=COPIED, offset=offset, with_vectors=True, with_payload=True)
        if found:
            kept: list[Any] = [one.vector or {} for one in found]
            pairs = zip(found, kept, strict=True)
            points = [PointStruct(id=one.id, vector=vector, payload=one.payload) for one, vector in pairs]
            client.upsert(backup, points=points)
        if offset is None:
            return
