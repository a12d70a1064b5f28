"""The rows of a LanceDB table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from vecveil.artifacts.vectors import column_of, vectors_of
from vecveil.core.arrays import Embeddings
from vecveil.migrate.folders import no_library_text
from vecveil.migrate.lancedb_columns import LanceColumns
from vecveil.migrate.store import Batch, Id

DISTANCE = "l2"
"""How LanceDB compares vectors that have no index."""


def trying(what: str, name: str) -> AbstractContextManager[None]:
    """Turn LanceDB's errors into one that says what was tried."""
    return no_library_text(f"{what} {name}", RuntimeError, ValueError, TypeError, OSError)


def read_rows(table: Any, columns: LanceColumns, rows: int) -> Iterator[Batch]:
    """Yield a table in batches."""
    columns.require_unique(table, table.name)
    others, first = list(columns.others), 0
    with trying("read", table.name):
        for found in table.search().select([columns.ids, columns.vectors, *others]).to_batches(rows):
            if found.num_rows:
                yield Batch(
                    ids=found.column(columns.ids).to_pylist(),
                    vectors=vectors_of(found.column(columns.vectors), first_row=first),
                    payload=found.select(others).to_pylist() if others else [{}] * found.num_rows,
                )
            first += found.num_rows


def known_ids(table: Any, column: str, ids: Sequence[Id]) -> set[Id]:
    """Return which of these ids a table has."""
    quoted = ", ".join(str(one) if isinstance(one, int) else "'" + one.replace("'", "''") + "'" for one in ids)
    with trying("read", table.name):
        query = table.search().where(f"`{column}` IN ({quoted})").select([column])
        return {*query.to_arrow().column(column).to_pylist()}


def write_rows(table: Any, columns: LanceColumns, batch: Batch) -> None:
    """Add rows whose ids a table has not."""
    import pyarrow as pa

    named = [{**row, columns.ids: one} for one, row in zip(batch.ids, batch.payload, strict=True)]
    kind = table.schema.field(columns.vectors)
    with trying("write to", table.name):
        rows = pa.Table.from_pylist(named, schema=pa.schema([one for one in table.schema if one.name != kind.name]))
        place = table.schema.get_field_index(kind.name)
        rows = rows.add_column(place, kind, column_of(batch.vectors).cast(kind.type))
        table.merge_insert(columns.ids).when_not_matched_insert_all().execute(rows)


def nearest(table: Any, columns: LanceColumns, vectors: Embeddings, k: int, *, distance: str) -> list[list[Id]]:
    """Return the ids that a search finds for each vector."""
    found = []
    for row in np.asarray(vectors, dtype=np.float32):
        with trying("search", table.name):
            query = table.search(row, vector_column_name=columns.vectors).distance_type(distance)
            rows = query.select([columns.ids, "_distance"]).limit(k).to_arrow()
        found.append(rows.column(columns.ids).to_pylist())
    return found


def distance_of(table: Any, column: str) -> str:
    """Return how a column's index compares vectors."""
    with trying("read the indexes of", table.name):
        for index in table.list_indices():
            stats = table.index_stats(index.name) if list(index.columns) == [column] else None
            if stats is not None and stats.distance_type:
                return str(stats.distance_type)
    return DISTANCE
