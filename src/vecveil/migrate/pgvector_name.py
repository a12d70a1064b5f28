"""Names in PostgreSQL: as users write them, and as pieces of SQL. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Self

from psycopg import sql as pieces

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.store import backup_of, shadow_of

LONGEST = 63
"""Bytes of a name; PostgreSQL cuts what is longer, and two names may become one."""


@dataclass(frozen=True)
class TableName:
    """A table.

    Attributes:
        schema: Its schema; None where the search path decides.
        table: Its name in there.
    """

    schema: str | None
    table: str

    @classmethod
    def read(cls, name: str, schema: str | None = None) -> Self:
        """Return what a user means by `table` or `schema.table`.

        Args:
            name: The name.
            schema: Where a table is that has no schema before it.
        """
        first, dot, last = name.partition(".")
        return cls(first, last) if dot else cls(schema, name)

    @property
    def sql(self) -> pieces.Identifier:
        """The name as a piece of a statement."""
        return self.beside(self.table)

    @property
    def quoted(self) -> str:
        """The name as PostgreSQL reads it in a value."""
        return pieces.Identifier(*([self.schema] if self.schema else []), self.table).as_string()

    def beside(self, other: str) -> pieces.Identifier:
        """Return the name of something else in the same schema as a piece of a statement."""
        return identifier(*([self.schema] if self.schema else []), other)


def identifier(*parts: str) -> pieces.Identifier:
    """Return a name as a piece of a statement, in which a percent sign would begin the place of a value."""
    return pieces.Identifier(*(part.replace("%", "%%") for part in parts))


def written_out(text: str) -> pieces.SQL:
    """Return what PostgreSQL itself has written, such as a type, as a piece of a statement."""
    return pieces.SQL(text.replace("%", "%%"))


def require_short(collection: str) -> None:
    """Raise where PostgreSQL would cut the name of a table's shadow or of its backup."""
    name = TableName.read(collection).table
    longest = LONGEST - max(len(shadow_of("")), len(backup_of("")))
    if len(name.encode()) > longest:
        raise InvalidInputError(
            f"PostgreSQL would cut the name {backup_of(name)}: the name of a table to migrate has at most {longest} "
            f"bytes, got {len(name.encode())}"
        )


def backup_names(name: str) -> Iterator[str]:
    """Yield names for what belongs to a backup and was called `name`, the best first, none too long."""
    # One that is cut is numbered, or it might be what the backup itself is called.
    for number in count(1 if len(name.encode()) + len(backup_of("")) <= LONGEST else 2):
        ending = backup_of("") + (f"-{number}" if number > 1 else "")
        yield name.encode()[: LONGEST - len(ending)].decode(errors="ignore") + ending
