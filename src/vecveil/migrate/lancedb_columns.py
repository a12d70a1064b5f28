"""Which column of a LanceDB table is what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from vecveil.artifacts.vectors import is_vector_type
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError


@dataclass(frozen=True, kw_only=True)
class LanceColumns:
    """The columns of a table.

    Attributes:
        ids: Column that says which record a row is.
        vectors: Column of the vectors that are migrated.
        others: Columns that may go along.
        never: Other columns of vectors.
    """

    ids: str
    vectors: str
    others: tuple[str, ...]
    never: tuple[str, ...]

    @classmethod
    def of(cls, schema: Any, *, ids: str, vectors: str | None, table: str) -> Self:
        """Return what the columns of a table are.

        Args:
            schema: Its Arrow schema.
            ids: Name of the column of ids.
            vectors: Name of the column of vectors; the only one there is where None.
            table: Name of the table, for errors.
        """
        one_of(ids, schema.names, f"id column of {table} (--id-column)")
        _require_ids(schema.field(ids), table)
        found = [name for name in schema.names if is_vector_type(schema.field(name).type)]
        if vectors is not None:
            one_of(vectors, found, f"vector column of {table}")
        elif len(found) != 1:
            raise InvalidInputError(
                f"{table} has {len(found)} columns of vectors; name one (--vector-column): {', '.join(found) or 'none'}"
            )
        chosen = vectors or found[0]
        return cls(
            ids=ids,
            vectors=chosen,
            others=tuple(name for name in schema.names if name not in {ids, *found}),
            never=tuple(name for name in found if name != chosen),
        )

    def require_unique(self, table: Any, name: str) -> None:
        """Raise unless every row has an id of its own."""
        import pyarrow.compute as pc

        column = table.search().select([self.ids]).to_arrow().column(self.ids)
        if column.null_count:
            raise InvalidInputError(f"{column.null_count:,} rows of {name} have no id in {self.ids!r}")
        distinct = pc.count_distinct(column).as_py()
        if distinct != len(column):
            raise InvalidInputError(
                f"{name} has {len(column):,} rows and {distinct:,} different ids in {self.ids!r}; name a column that "
                "tells rows apart (--id-column)"
            )


def shadow_schema(schema: Any, columns: LanceColumns, notes: dict[str, str]) -> Any:
    """Return the schema of a shadow: all but ids and vectors may be empty, whatever is inside of them too."""
    import pyarrow as pa

    needed = {columns.ids, columns.vectors}
    fields = [one if one.name in needed else _optional(one) for one in schema]
    # The table's own notes are not taken over: they name the function that makes clean vectors of what is added.
    return pa.schema(fields, metadata=notes)


def _optional(field: Any) -> Any:
    import pyarrow as pa

    kind = pa.struct([_optional(inner) for inner in field.type]) if pa.types.is_struct(field.type) else field.type
    return field.with_type(kind).with_nullable(True)


def _require_ids(field: Any, table: str) -> None:
    from pyarrow import types

    checks = (types.is_integer, types.is_string, types.is_large_string, types.is_string_view)
    if not any(check(field.type) for check in checks):
        raise InvalidInputError(
            f"the id column {field.name!r} of {table} must hold text or whole numbers, got {field.type}; name another "
            "(--id-column)"
        )
