"""Tables of PostgreSQL: their columns, the shadow, and the swap. Imports psycopg."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, Self

from psycopg import sql

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.fields import FieldPath
from vecveil.migrate.pgvector.database import Database, TableName, fill_in
from vecveil.migrate.store import BACKUP_ENDING, choose_vectors, format_mark
from vecveil.veil.seal import SEAL

LONGEST_NAME = 63  # Bytes; PostgreSQL cuts what is longer, and two names may become one.

TYPES = {
    "vectors": ["vector", "halfvec"],
    # pgvector keeps vectors of zeros and ones as bits.
    "unprotected": ["vector", "halfvec", "sparsevec", "bit", "varbit"],
    # A list of these may be a vector.
    "numbers": ["float4", "float8", "numeric", "int2", "int4", "int8"],
}
"""Types of vectors: those that can be migrated, and those that are left out."""


class PgColumn(NamedTuple):
    """A column of a table."""

    name: str
    type: str  # As SQL writes it.
    computed: bool  # By the table, from other columns.
    vector: bool  # Holds vectors that can be migrated, maybe by a domain.
    unprotected: bool  # Holds vectors in any form: by a domain, in lists, as numbers in a list.
    unique: bool  # Tells rows apart.
    deferred: bool  # Does so at the end of a transaction only.
    primary_key: bool
    keyed: bool  # Is a part of the primary key.

    @property
    def sql(self) -> sql.Composed:
        """The column of the table that is called s in a statement."""
        return sql.SQL("s.{}").format(sql.Identifier(self.name))


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """The columns of a table."""

    ids: PgColumn
    vectors: PgColumn  # Those that are migrated.
    others: tuple[PgColumn, ...]  # They may be kept.
    other_vectors: tuple[PgColumn, ...]

    @classmethod
    def find(cls, database: Database, table: TableName, name: str, *, ids: str | None, vectors: str | None) -> Self:
        """Return the columns of a table, by default with the primary key and the only vectors, or raise."""
        found = {row[0]: PgColumn(*row) for row in database.run("columns", table=table.quoted, **TYPES)}
        chosen_ids = _choose_ids(found, name, ids)
        known = [column.name for column in found.values() if column.vector and not column.computed]
        chosen = found[choose_vectors(known, vectors, name)]
        # What is computed from other columns is computed anew, from what the shadow has in them.
        rest = [column for column in found.values() if not column.computed and column not in (chosen_ids, chosen)]
        return cls(
            ids=chosen_ids,
            vectors=chosen,
            others=tuple(column for column in rest if not column.unprotected),
            other_vectors=tuple(column for column in rest if column.unprotected),
        )

    def select_carried(self, left_out: Sequence[FieldPath]) -> dict[str, sql.Composed]:
        """Return the other columns that are kept and what is taken of each: all, or JSON without some fields."""
        carried: dict[str, sql.Composed] = {}
        for column in () if () in left_out else self.others:
            paths = [path[1:] for path in left_out if path[0] == column.name]
            if not paths:
                carried[column.name] = column.sql
            elif () not in paths:
                values = {"value": column.sql, "paths": json.dumps(paths), "count": len(paths)}
                carried[column.name] = fill_in("without_fields", **values, type=sql.SQL(column.type))
        return carried


def _choose_ids(found: dict[str, PgColumn], name: str, chosen: str | None) -> PgColumn:
    ids = chosen or next((column.name for column in found.values() if column.primary_key), None)
    if ids is None:
        raise InvalidInputError(f"{name} has no primary key of one column; name a column of ids (--id-column)")
    column = found[one_of(ids, found, f"id column of {name}")]
    if column.deferred and not column.unique:
        raise InvalidInputError(
            f"the key {ids!r} of {name} is deferrable, and does not tell rows apart at once; make it one that is not"
        )
    if not column.unique or column.computed:
        raise InvalidInputError(
            f"{ids!r} does not tell the rows of {name} apart: it is not unique, or empty, or computed from others"
        )
    return column


def create_shadow(
    database: Database, columns: TableColumns, collection: TableName, shadow: TableName, mark: Mapping[str, Any]
) -> None:
    """Make an empty table like the collection, with its mark, in which columns that are left out may be empty."""
    carried = columns.select_carried([tuple(path) for path in mark["left_out"]])
    gone = [column for column in (*columns.others, *columns.other_vectors) if column.name not in carried]
    keyed = [column.name for column in gone if column.keyed]
    if keyed:
        raise InvalidInputError(
            f"{', '.join(keyed)} would be left out, and can't be: the primary key of {collection.table} is made of it"
        )
    names = {"old": collection.quoted, "new": shadow.quoted}
    with database.transaction():
        # For its owner only, whatever new tables are open to.
        for statement in ("create_like", "set_owner", "close_to_others", "copy_settings"):
            database.run_generated(statement, **names)
        for column in gone:
            database.run("allow_empty", shadow=shadow, column=sql.Identifier(column.name))
        if mark.get("seals"):
            database.run("add_seals", shadow=shadow, seal=sql.Identifier(SEAL))
        database.run("write_comment", shadow=shadow, mark=format_mark(mark))
        _pair_indexes(database, collection, shadow)


def finish_shadow(database: Database, shadow: TableName, *, grown: bool) -> None:
    """Make a full table ready to be searched; `grown` says whether rows were added since it was last."""
    database.run_generated("reindex", shadow=shadow.quoted, grown=grown)
    database.run("analyze", shadow=shadow)


def require_swappable(database: Database, table: TableName, name: str) -> None:
    """Raise where a table can't be swapped, or where something would stay with the old one, with its name."""
    [(ordinary, owner, owned, schema, powerless)] = database.run("rights", table=table.quoted)
    if not ordinary:
        raise InvalidInputError(f"{name} is no ordinary table, and can't be swapped: a view, or one with partitions")
    if not owned:
        raise InvalidInputError(f"{name} belongs to {owner}; only who has all rights of {owner} can swap it")
    if powerless:
        raise InvalidInputError(f"{powerless} may not create tables in the schema {schema}, beside {name}")
    obstacles = [what for (what,) in database.run("obstacles", table=table.quoted)]
    if obstacles:
        raise InvalidInputError(
            f"{name} can't be swapped, as these would stay with the old table: {', '.join(obstacles)}; take them "
            "off first, where you can do without them for so long, and make them anew after the swap"
        )


def swap_tables(
    database: Database, collection: TableName, shadow: TableName, backup: TableName, *, ids: str, name: str
) -> None:
    """Rename two tables, of which the new one gets the owner, rights, counters and names of keys of the old one."""
    tables = {"collection": collection, "shadow": shadow}
    with database.transaction(locking=True):
        # Writers wait from here on, and readers only while the names change, which is the last thing done.
        database.run("lock", **tables)
        require_swappable(database, collection, name)
        [(missing, left_over)] = database.run("differing_ids", id=sql.Identifier(ids), **tables)
        if left_over:
            raise InvalidInputError(
                f"{name} has changed since: {left_over:,} rows of {shadow.table} are not in it any more; delete "
                f"{shadow.table}, and migrate again"
            )
        if missing:
            raise InvalidInputError(f"{name} has {missing:,} rows more since; migrate again to add what is missing")
        _pass_on_sequences(database, collection, shadow)
        _pass_on_rights(database, collection.quoted, shadow.quoted)
        for old, new, replica, clustered in _pair_indexes(database, collection, shadow):
            _pass_on_name(database, "INDEX", collection, old, new)
            for wanted, statement in ((replica, "replicate_by"), (clustered, "cluster_by")):
                if wanted:
                    database.run(statement, shadow=shadow, index=sql.Identifier(old))
        database.rename(collection, backup)
        database.rename(shadow, collection)


def _pair_indexes(database: Database, collection: TableName, shadow: TableName) -> list[tuple[Any, ...]]:
    """Return the indexes of the collection, each with the same one of its shadow, or raise where there is none."""
    pairs = database.run("paired_indexes", old=collection.quoted, new=shadow.quoted)
    missing = [old for old, new, *_ in pairs if new is None]
    if missing:
        raise InvalidInputError(
            f"{shadow.table} lacks indexes of {collection.table}: {', '.join(missing)}; make the same ones on it, "
            "under any name, or delete it and migrate again"
        )
    return pairs


def _pass_on_sequences(database: Database, collection: TableName, shadow: TableName) -> None:
    pairs = database.run("paired_sequences", old=collection.quoted, new=shadow.quoted)
    for column, identity, old, old_name, new, new_name in pairs:
        if identity:
            database.run("copy_sequence", old=sql.SQL(old), new=new)
            _pass_on_rights(database, old, new)
            _pass_on_name(database, "SEQUENCE", collection, old_name, new_name)
        else:
            database.run("own_sequence", sequence=sql.SQL(old), shadow=shadow, column=sql.Identifier(column))


def _pass_on_rights(database: Database, old: str, new: str) -> None:
    """Give a new table, or sequence, the owner of an old one and the rights on it, those on single columns too."""
    for statement in ("set_owner", "close_to_others", "revoke_own", "grant"):
        database.run_generated(statement, old=old, new=new)


def _pass_on_name(database: Database, kind: str, table: TableName, old: str, new: str) -> None:
    """Give the name of an index or sequence to the new one, and a free name to the old one."""
    # A name that is cut is numbered, or it might be what the backup itself is called.
    for number in count(1 if len((old + BACKUP_ENDING).encode()) <= LONGEST_NAME else 2):
        ending = BACKUP_ENDING + (f"-{number}" if number > 1 else "")
        free = old.encode()[: LONGEST_NAME - len(ending)].decode(errors="ignore") + ending
        if database.run("find", table=TableName(table.schema, free).quoted) == [(None,)]:
            break
    for name, better in ((old, free), (new, old)):
        database.run("rename", kind=sql.SQL(kind), old=TableName(table.schema, name), new=sql.Identifier(better))
