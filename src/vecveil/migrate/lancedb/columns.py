"""Columns of a LanceDB table, by what they are for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.files.vectors import is_vector_type
from vecveil.migrate.mark import MARK, format_mark
from vecveil.veil.seal import SEAL


@dataclass(frozen=True, kw_only=True)
class LanceColumns:
    """The names of the columns of a table."""

    ids: str
    vectors: str  # Those that are migrated.
    others: tuple[str, ...]  # They may be kept.
    other_vectors: tuple[str, ...]

    @classmethod
    def from_schema(cls, schema: Any, table: str, *, ids: str, vectors: str | None) -> Self:
        """Return the columns of a table with an Arrow schema, by default with the only vectors, or raise."""
        from pyarrow import types

        kind = schema.field(one_of(ids, schema.names, f"id column of {table} (--id-column)")).type
        checks = (types.is_integer, types.is_string, types.is_large_string, types.is_string_view)
        if not any(check(kind) for check in checks):
            raise InvalidInputError(
                f"the id column {ids!r} of {table} must hold text or whole numbers, got {kind}; name another "
                "(--id-column)"
            )
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
            other_vectors=tuple(name for name in found if name != chosen),
        )

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


def _make_optional(field: Any) -> Any:
    import pyarrow as pa

    kind = pa.struct([_make_optional(inner) for inner in field.type]) if pa.types.is_struct(field.type) else field.type
    return field.with_type(kind).with_nullable(True)
