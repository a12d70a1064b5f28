"""Vector stores, protected in place: shadow, compare, swap."""

from collections.abc import Callable
from inspect import Parameter, signature

from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry
from vecveil.migrate.comparison import Comparison, compare, read_queries
from vecveil.migrate.migration import Migration, migrate
from vecveil.migrate.store import BATCH_ROWS, Batch, Store
from vecveil.migrate.swapping import Backup, SwapResult, drop_backup, find_backup, swap

__all__ = ["BATCH_ROWS", "STORES", "Backup", "Batch", "Comparison", "Migration", "Store", "SwapResult"]
__all__ += ["compare", "drop_backup", "find_backup", "migrate", "open_store", "read_queries", "swap"]

URLS = ("postgresql", "postgres")  # Stores that are named by a URL, which starts with their name.

STORES: Registry[Callable[..., Store]] = Registry(
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
"""Functions that open a store: from a path or URL, a collection and, where there is a choice, columns by keyword."""


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
        # Don't show it: it may be a part of an address with a password in it.
        raise InvalidInputError(
            f"name a store as STORE:FOLDER or postgresql://…, with one of {', '.join(STORES.names())}"
        )
    opener = STORES.load(name)
    columns = {"id_column": id_column, "vector_column": vector_column}
    chosen = {key: value for key, value in columns.items() if value is not None}
    parameters = signature(opener).parameters.values()
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters)
    for key in sorted(() if takes_any else {*chosen} - {parameter.name for parameter in parameters}):
        raise InvalidInputError(f"{name} leaves no choice of {key}, got {chosen[key]!r}")
    return opener(where if name in URLS else target, collection, **chosen)
