"""The indexes of two tables in PostgreSQL that are alike, and their names, which are also those of keys.

Imports psycopg.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from psycopg import sql

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.pgvector_database import Database
from vecveil.migrate.pgvector_name import TableName, backup_names, identifier

# A definition begins with the names of the index and of its table; what comes after them is compared.
_INDEXES = sql.SQL(
    """
    SELECT c.relname AS name, i.indisreplident AS replica, i.indisclustered AS clustered,
      concat_ws(' ', i.indisunique, i.indimmediate, pg_get_constraintdef(k.oid), substr(
        pg_get_indexdef(c.oid),
        1 + length(format('CREATE %%sINDEX %%I ON %%I.%%I', CASE WHEN indisunique THEN 'UNIQUE ' END, c.relname,
          n.nspname, t.relname))
      )) AS shape
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = t.relnamespace
    LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.conrelid = t.oid AND k.contype IN ('p', 'u', 'x')
    WHERE i.indrelid = %s::regclass ORDER BY 1
    """
)


@dataclass(frozen=True, kw_only=True)
class Index:
    """An index.

    Attributes:
        name: Its name, and that of the key that it is for.
        replica: Whether replication tells rows apart by it.
        clustered: Whether the table is put in order by it.
        shape: What it is, without its name and its table's.
    """

    name: str
    replica: bool
    clustered: bool
    shape: str


def paired(database: Database, collection: TableName, shadow: TableName) -> list[tuple[Index, Index]]:
    """Return each index of the collection with one of its shadow that is the same, or raise where there is none."""
    alike: dict[str, list[Index]] = defaultdict(list)
    for index in database.records(Index, _INDEXES, shadow.quoted):
        alike[index.shape].append(index)
    indexes = database.records(Index, _INDEXES, collection.quoted)
    pairs = [(index, alike[index.shape].pop(0)) for index in indexes if alike[index.shape]]
    lacking = [index.name for index in indexes if index not in [old for old, _ in pairs]]
    if lacking:
        raise InvalidInputError(
            f"{shadow.table} lacks indexes of {collection.table}: {', '.join(lacking)}; make the same ones on it, "
            "under any name, or delete it and migrate again"
        )
    return pairs


def exchange_indexes(database: Database, collection: TableName, shadow: TableName) -> None:
    """Give the names of the collection's indexes and keys to those of its shadow, and others to its own."""
    for old, new in paired(database, collection, shadow):
        exchange(database, "INDEX", collection, old.name, new.name)
        if old.replica:
            by = sql.SQL("ALTER TABLE {} REPLICA IDENTITY USING INDEX {}")
            database.rows(by.format(shadow.sql, identifier(old.name)))
        if old.clustered:
            database.rows(sql.SQL("ALTER TABLE {} CLUSTER ON {}").format(shadow.sql, identifier(old.name)))


def exchange(database: Database, what: str, beside: TableName, old: str, new: str) -> None:
    """Give the name of something old to something new of the same kind, and a free one to the old.

    Args:
        database: Where they are.
        what: What they are, as SQL says it.
        beside: A table in the same schema.
        old: Name of the old one.
        new: Name of the new one.
    """
    rename = sql.SQL("ALTER {} {} RENAME TO {}")
    taken = sql.SQL("SELECT to_regclass(%s) IS NOT NULL")
    free = next(
        name for name in backup_names(old) if database.rows(taken, TableName(beside.schema, name).quoted) == [(False,)]
    )
    for name, better in ((old, free), (new, old)):
        database.rows(rename.format(sql.SQL(what), beside.beside(name), identifier(better)))
