"""The vector stores by name, and what a user writes to open one."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any, Protocol

from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry
from vecveil.migrate.store import Store

URLS = ("postgresql", "postgres")
"""Stores that are named by a URL, which starts with their name."""


class Opener(Protocol):
    """Opens a store where it is; raises where there is nothing of its kind."""

    def __call__(self, target: str, collection: str, **columns: Any) -> Store:
        """Return the store, opened for one collection.

        Args:
            target: What follows the store's name: a path; or the whole URL.
            collection: Name of the collection.
            **columns: `id_column` and `vector_column`, where they are named.
        """
        ...


STORES: Registry[Opener] = Registry(
    kind="vector store",
    builtin={
        "chroma": "vecveil.migrate.chroma:open_chroma",
        "faiss": "vecveil.migrate.faiss:open_faiss",
        "lancedb": "vecveil.migrate.lancedb:open_lancedb",
        "postgres": "vecveil.migrate.pgvector:open_pgvector",
        "postgresql": "vecveil.migrate.pgvector:open_pgvector",
        "qdrant": "vecveil.migrate.qdrant:open_qdrant",
    },
    group="vecveil.stores",
)


def open_store(where: str, collection: str, *, id_column: str | None = None, vector_column: str | None = None) -> Store:
    """Return the store at `where`, opened for one collection; close it when done.

    Args:
        where: `chroma:FOLDER`, `qdrant:FOLDER`, `lancedb:FOLDER`, `faiss:FOLDER`, or `postgresql://…`.
        collection: The collection; with FAISS the index's file in that folder, with PostgreSQL the table.
        id_column: Column of ids, where a store has columns and can't tell.
        vector_column: Column of vectors, or name of a vector, where there are several.
    """
    name, colon, target = where.partition(":")
    if not colon or not target:
        # What was given is not shown: it may be a part of an address with a password in it.
        raise InvalidInputError(
            f"name a store as STORE:FOLDER or postgresql://…, with one of {', '.join(STORES.names())}"
        )
    opener = STORES.load(name)
    columns = {"id_column": id_column, "vector_column": vector_column}
    chosen = {key: value for key, value in columns.items() if value is not None}
    taken = signature(opener).parameters.values()
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken)
    for key in sorted(() if takes_any else {*chosen} - {parameter.name for parameter in taken}):
        raise InvalidInputError(f"{name} leaves no choice of {key}, got {chosen[key]!r}")
    return opener(where if name in URLS else target, collection, **chosen)
