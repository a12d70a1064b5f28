"""pgvector: tables of PostgreSQL with a column of vectors. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError, needs_extra
from vecveil.migrate.store import BACKUP_ENDING, Batch, Id, Store, stack_vectors
from vecveil.veil.seal import SEAL

with needs_extra("psycopg", "postgres"):
    from psycopg import sql

from vecveil.migrate.pgvector import tables
from vecveil.migrate.pgvector.database import Database, TableName
from vecveil.migrate.pgvector.tables import LONGEST_NAME, TableColumns

DISTANCES = {"l2": "<->", "ip": "<#>", "cosine": "<=>", "l1": "<+>"}  # By names in operator classes of indexes.


def open_pgvector(
    target: str, collection: str, *, id_column: str | None = None, vector_column: str | None = None
) -> PgvectorStore:
    """Return the store at the URL `target`, opened for the table `collection`, which may have its schema before it."""
    name = TableName.parse(collection).table
    longest = LONGEST_NAME - len(BACKUP_ENDING)
    if len(name.encode()) > longest:
        raise InvalidInputError(
            f"PostgreSQL would cut the name {name}{BACKUP_ENDING}: the name of a table to migrate has at most "
            f"{longest} bytes, got {len(name.encode())}"
        )
    return PgvectorStore(Database(target), collection, ids=id_column, vectors=vector_column)


class PgvectorStore(Store):
    """Tables of a database; `Store` says what each method promises.

    Rows go from table to table inside the database; what is written from here is protected vectors. Columns that are
    left out stay in the shadow, with nothing in them. Shadow and backup are in the schema of the table. Without a
    choice, the ids are the primary key, and the vectors in the only column of them.
    """

    def __init__(self, database: Database, collection: str, *, ids: str | None, vectors: str | None) -> None:
        super().__init__(collection)
        self._database = database
        self._chosen = {"ids": ids, "vectors": vectors}
        self._grown = False

    @property
    def columns(self) -> Mapping[str, str | None]:
        return {"vector_column": self._columns.vectors.name, "id_column": self._columns.ids.name}

    @property
    def other_vectors(self) -> Sequence[str]:
        return [column.name for column in self._columns.other_vectors]

    def list_names(self) -> Sequence[str]:
        return [name for (name,) in self._database.run("tables")]

    def count(self, name: str) -> int | None:
        table = self._name(name)
        if self._database.run("find", table=table.quoted) == [(None,)]:
            return None
        return int(self._database.run("count", table=table)[0][0])

    def read_note(self, name: str) -> str | None:
        [(comment,)] = self._database.run("read_comment", table=self._name(name).quoted)
        return None if comment is None else str(comment)

    def read_batches(self, name: str, rows: int) -> Iterator[Batch]:
        others, first, last = self._columns.others, 0, None
        selected = sql.SQL("").join(sql.SQL(", {}").format(column.sql) for column in others)
        names = [column.name for column in others]
        while found := self._run("read_rows", name, others=selected, last=last, rows=rows):
            yield Batch(
                ids=[row[0] for row in found],
                vectors=stack_vectors([row[1] for row in found], first_row=first),
                payload=[dict(zip(names, row[2:], strict=True)) for row in found],
            )
            first, last = first + len(found), found[-1][0]

    def create_shadow(self, mark: Mapping[str, Any]) -> None:
        tables.create_shadow(self._database, self._columns, self._name(self.collection), self._name(self.shadow), mark)

    def find_present(self, ids: Sequence[Id]) -> set[Id]:
        return {one for (one,) in self._run("present_ids", self.shadow, ids=[str(one) for one in ids])}

    def append(self, batch: Batch) -> None:
        mark = self.read_mark(self.shadow)
        if mark is None:
            raise ArtifactError(f"{self.shadow} has lost its mark, with what is left out; delete it to start anew")
        carried = self._columns.select_carried([tuple(path) for path in mark["left_out"]])
        seals = {SEAL: sql.SQL("batch.seal")} if mark.get("seals") else {}
        names = [self._columns.vectors.name, self._columns.ids.name, *carried, *seals]
        vector = sql.SQL("batch.vector::{}").format(sql.SQL(self._columns.vectors.type))
        self._grown = True
        self._run(
            "append_rows",
            self.collection,
            shadow=self._name(self.shadow),
            columns=sql.SQL(", ").join(map(sql.Identifier, names)),
            values=sql.SQL(", ").join([vector, self._columns.ids.sql, *carried.values(), *seals.values()]),
            ids=[str(one) for one in batch.ids],
            vectors=[str(row) for row in batch.vectors.tolist()],
            seals=[row.get(SEAL) if seals else None for row in batch.payload],
        )

    def finish_shadow(self) -> None:
        tables.finish_shadow(self._database, self._name(self.shadow), grown=self._grown)
        self._grown = False

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        table, column = self._name(self.collection).quoted, self._columns.vectors.name
        classes = [found for (found,) in self._database.run("operators", table=table, column=column)]
        operator = next((sign for key, sign in DISTANCES.items() if any(f"_{key}_" in one for one in classes)), "<=>")
        settings = {"operator": sql.SQL(operator), "k": k}
        return [[one for (one,) in self._run("nearest_rows", name, row=row, **settings)] for row in vectors.tolist()]

    def require_swappable(self) -> None:
        tables.require_swappable(self._database, self._name(self.collection), self.collection)

    def swap(self) -> str:
        names = [self._name(name) for name in (self.collection, self.shadow, self.backup)]
        tables.swap_tables(self._database, *names, ids=self._columns.ids.name, name=self.collection)
        return self.backup

    def drop_backup(self) -> None:
        with self._database.transaction(locking=True):
            self._database.run("drop", table=self._name(self.backup))

    def close(self) -> None:
        self._database.close()

    @cached_property
    def _columns(self) -> TableColumns:
        return TableColumns.find(self._database, self._name(self.collection), self.collection, **self._chosen)

    @cached_property
    def _schema(self) -> str | None:
        """The schema of the table: a search path may change, and may lead a shadow elsewhere."""
        found = self._database.run("find_schema", table=TableName.parse(self.collection).quoted)
        return found[0][0] if found else None

    def _name(self, name: str) -> TableName:
        return TableName.parse(name, self._schema)

    def _run(self, query: str, table: str, **values: object) -> list[tuple[Any, ...]]:
        """Run a query on a table, with the names and types of its columns."""
        ids, vectors = self._columns.ids, self._columns.vectors
        return self._database.run(
            query,
            table=self._name(table),
            id=sql.Identifier(ids.name),
            type=sql.SQL(ids.type),
            vector=sql.Identifier(vectors.name),
            vector_type=sql.SQL(vectors.type),
            **values,
        )
