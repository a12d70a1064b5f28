"""LanceDB: tables in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.files.vectors import is_vector_type, read_vectors, to_vector_column
from vecveil.migrate.folders import RenamingStore, remove_folder, to_folder, trying
from vecveil.migrate.store import MARK, Batch, Id, choose_vectors, format_mark
from vecveil.veil.columns import require_types
from vecveil.veil.seal import SEAL

if TYPE_CHECKING:
    from lancedb.db import DBConnection

ID = "id"  # Column of ids where nobody names another.
DISTANCE = "l2"  # How LanceDB compares vectors that have no index.


def open_lancedb(target: str, collection: str, *, id_column: str = ID, vector_column: str | None = None) -> LanceStore:
    """Return the store in the folder `target`."""
    with needs_extra("lancedb", "stores"):
        import lancedb
    folder = to_folder(target, "lancedb")
    if not folder.is_dir():
        raise InvalidInputError(f"there is no folder {target}; tables are swapped by renaming, so they must be in one")
    return LanceStore(lancedb.connect(target), folder, collection, ids=id_column, vectors=vector_column)


@dataclass(frozen=True, kw_only=True)
class LanceColumns:
    """The names of the columns of a table."""

    ids: str
    vectors: str  # Those that are migrated.
    others: tuple[str, ...]  # They may be kept.
    other_vectors: tuple[str, ...]

    def to_shadow_schema(self, schema: Any, mark: Mapping[str, Any]) -> Any:
        """Return the schema of a shadow, in which all but ids and vectors may be empty, inside of structs too."""
        import pyarrow as pa

        fields = [one if one.name in {self.ids, self.vectors} else _make_optional(one) for one in schema]
        # The table's own metadata is not kept: it names the function that makes clean vectors of new rows.
        seals = [pa.field(SEAL, pa.binary())] if mark.get("seals") else []
        return pa.schema([*fields, *seals], metadata={MARK: format_mark(mark)})

    def require_unique_ids(self, table: Any) -> None:
        """Raise unless every row has an id of its own."""
        import pyarrow.compute as pc

        column = table.search().select([self.ids]).to_arrow().column(self.ids)
        if column.null_count:
            raise InvalidInputError(f"{column.null_count:,} rows of {table.name} have no id in {self.ids!r}")
        distinct = pc.count_distinct(column).as_py()
        if distinct != len(column):
            raise InvalidInputError(
                f"{table.name} has {len(column):,} rows and {distinct:,} different ids in {self.ids!r}; name a column "
                "that tells rows apart (--id-column)"
            )


class LanceStore(RenamingStore):
    """Tables of a LanceDB connection; `Store` says what each method promises.

    Columns that are left out stay in the shadow, with nothing in them, so that queries that name them still work.
    Without a choice, the vectors are those of the only column that has some.
    """

    def __init__(self, database: DBConnection, folder: Path, collection: str, *, ids: str, vectors: str | None) -> None:
        super().__init__(collection, folder)
        self._database, self._tables = database, folder
        self._ids, self._vectors = ids, vectors

    @property
    def columns(self) -> Mapping[str, str | None]:
        found = self._find_columns(self.collection)
        return {"id_column": found.ids, "vector_column": found.vectors}

    @property
    def other_vectors(self) -> Sequence[str]:
        return self._find_columns(self.collection).other_vectors

    def list_names(self) -> Sequence[str]:
        return sorted(path.stem for path in self._tables.glob("*.lance") if self._has(path.stem))

    def count_rows(self, name: str) -> int | None:
        with trying(f"count {name}"):
            return int(self._open(name).count_rows()) if self._has(name) else None

    def read_note(self, name: str) -> str | None:
        metadata = (self._open(name).schema.metadata or {}) if self._has(name) else {}
        return str(metadata.get(MARK.encode(), b"").decode())

    def read_batches(self, name: str, rows: int) -> Iterator[Batch]:
        if not self._has(name):
            return
        table, columns, first = self._open(name), self._find_columns(name), 0
        columns.require_unique_ids(table)
        others = list(columns.others)
        with trying(f"read {name}"):
            for found in table.search().select([columns.ids, columns.vectors, *others]).to_batches(rows):
                if found.num_rows:
                    yield Batch(
                        ids=found.column(columns.ids).to_pylist(),
                        vectors=read_vectors(found.column(columns.vectors), first_row=first),
                        payload=found.select(others).to_pylist() if others else [{}] * found.num_rows,
                    )
                first += found.num_rows

    def create_shadow(self, mark: Mapping[str, Any]) -> None:
        like = self._open(self.collection).schema
        schema = self._find_columns(self.collection).to_shadow_schema(like, mark)
        with trying(f"make {self.shadow}"):
            self._database.create_table(self.shadow, schema=schema)

    def find_present(self, ids: Sequence[Id]) -> set[Id]:
        quoted = ", ".join(str(one) if isinstance(one, int) else "'" + one.replace("'", "''") + "'" for one in ids)
        with trying(f"read {self.shadow}"):
            query = self._open(self.shadow).search().where(f"`{self._ids}` IN ({quoted})").select([self._ids])
            return {*query.to_arrow().column(self._ids).to_pylist()}

    def append(self, batch: Batch) -> None:
        import pyarrow as pa

        table, columns = self._open(self.shadow), self._find_columns(self.shadow)
        named = [{**row, columns.ids: one} for one, row in zip(batch.ids, batch.payload, strict=True)]
        place, field = table.schema.get_field_index(columns.vectors), table.schema.field(columns.vectors)
        with trying(f"write to {self.shadow}"):
            rows = pa.Table.from_pylist(named, schema=table.schema.remove(place))
            rows = rows.add_column(place, field, to_vector_column(batch.vectors).cast(field.type))
            table.merge_insert(columns.ids).when_not_matched_insert_all().execute(rows)

    def finish_shadow(self) -> None:
        # Without an index, LanceDB looks at every row, and batches leave many small pieces.
        with trying(f"finish {self.shadow}"):
            self._open(self.shadow).optimize()

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        table, columns, distance = self._open(name), self._find_columns(name), self._find_distance()
        hits = []
        for row in np.asarray(vectors, dtype=np.float32):
            with trying(f"search {name}"):
                query = table.search(row, vector_column_name=columns.vectors).distance_type(distance)
                found = query.select([columns.ids, "_distance"]).limit(k).to_arrow()
            hits.append(found.column(columns.ids).to_pylist())
        return hits

    def require_swappable(self) -> None:
        path = self._path(self.backup)
        if path.exists() and not self._has(self.backup):
            raise InvalidInputError(f"{path} is in the way, which is no table; give it another name")

    def rename(self, old: str, new: str) -> None:
        # LanceDB renames no table, but a table is a folder that may be moved.
        with trying(f"rename {old}"):
            self._path(old).rename(self._path(new))

    def remove(self, name: str) -> None:
        # Without its versions it is no table any more, whatever is left of it when this is stopped.
        remove_folder(self._path(name) / "_versions")
        remove_folder(self._path(name))

    def _path(self, name: str) -> Path:
        return self._tables / f"{name}.lance"

    def _has(self, name: str) -> bool:
        """Return whether there is a table; a folder without a version is one that was never made, or half deleted."""
        return any((self._path(name) / "_versions").glob("*.manifest"))

    def _open(self, name: str) -> Any:
        with trying(f"open {name}"):
            return self._database.open_table(name)

    def _find_columns(self, name: str) -> LanceColumns:
        """Return the columns of a table, by default with the only vectors, or raise."""
        schema = self._open(name).schema
        require_types(schema, ids=one_of(self._ids, schema.names, f"id column of {name} (--id-column)"))
        found = [column for column in schema.names if is_vector_type(schema.field(column).type)]
        chosen = choose_vectors(found, self._vectors, name)
        return LanceColumns(
            ids=self._ids,
            vectors=chosen,
            others=tuple(column for column in schema.names if column not in {self._ids, *found}),
            other_vectors=tuple(column for column in found if column != chosen),
        )

    def _find_distance(self) -> str:
        """Return how the collection's index compares vectors."""
        table, column = self._open(self.collection), self._find_columns(self.collection).vectors
        with trying(f"read the indexes of {self.collection}"):
            for index in table.list_indices():
                stats = table.index_stats(index.name) if list(index.columns) == [column] else None
                if stats is not None and stats.distance_type:
                    return str(stats.distance_type)
        return DISTANCE


def _make_optional(field: Any) -> Any:
    import pyarrow as pa

    kind = pa.struct([_make_optional(inner) for inner in field.type]) if pa.types.is_struct(field.type) else field.type
    return field.with_type(kind).with_nullable(True)
