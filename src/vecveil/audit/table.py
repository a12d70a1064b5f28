"""Some columns of a file, as the tasks of an audit need them: texts, ids, numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from vecveil.artifacts import open_source
from vecveil.core.arrays import evenly
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError

T = TypeVar("T")

BATCH = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Rows of a file. Errors name file, column and row, counted from 0, and never show what is there.

    Attributes:
        path: The file.
        names: Its columns, those that were not read too.
        columns: The values of those that were read.
        rows: The row of each value in the file.
    """

    path: Path
    names: tuple[str, ...]
    columns: dict[str, list[Any]] = field(repr=False)
    rows: Sequence[int] = field(repr=False)

    @classmethod
    def read(cls, path: Path, columns: Sequence[str], *, optional: Sequence[str] = ()) -> Self:
        """Return the named columns of a file, and those of the `optional` ones that it has."""
        source = open_source(path)
        names = tuple(source.schema.names)
        for name in columns:
            one_of(name, names, f"column of {path}")
        if source.rows == 0:
            raise InvalidInputError(f"{path} has no rows")
        values: dict[str, list[Any]] = {name: [] for name in (*columns, *optional) if name in names}
        for batch in source.batches(BATCH):
            for name, column in values.items():
                column.extend(batch.column(name).to_pylist())
        return cls(path=path, names=names, columns=values, rows=range(source.rows))

    def where(self, column: str, value: str) -> Self:
        """Return the rows that have `value` in `column`."""
        found = [str(one) for one in self.columns[column]]
        one_of(value, set(found), f"{column} of {self.path}")
        return self._at([place for place, one in enumerate(found) if one == value])

    def some(self, most: int | None) -> Self:
        """Return at most so many rows, taken evenly; all where None."""
        return self._at(evenly(len(self.rows), most).tolist())

    def _at(self, places: Sequence[int]) -> Self:
        columns = {name: [values[place] for place in places] for name, values in self.columns.items()}
        return type(self)(path=self.path, names=self.names, columns=columns, rows=[self.rows[one] for one in places])

    def texts(self, column: str, *, blank: bool = False) -> list[str]:
        """Return the column, all of it texts with something in them; where `blank`, nothing is a text too."""
        return self._values(column, _blank_or_text if blank else _text, "a text")

    def numbers(self, column: str) -> list[float]:
        """Return the column, all of it finite numbers; text that reads as one is one."""
        return self._values(column, _number, "a number")

    def whole_numbers(self, column: str) -> list[int]:
        """Return the column, all of it whole numbers."""
        return self._values(column, _whole_number, "a whole number")

    def ids(self, column: str) -> list[str]:
        """Return the column, all of it ids."""
        return self._values(column, _identity, "an id")

    def own_ids(self, column: str) -> list[str]:
        """Return the column, all of it ids, none of them twice."""
        ids = self.ids(column)
        first: dict[str, int] = {}
        for row, one in zip(self.rows, ids, strict=True):
            if first.setdefault(one, row) != row:
                raise InvalidInputError(f"{self.path}: row {row} has the same {column!r} as row {first[one]}")
        return ids

    def _values(self, column: str, convert: Callable[[Any], T | None], kind: str) -> list[T]:
        found = []
        for row, value in zip(self.rows, self.columns[column], strict=True):
            converted = convert(value)
            if converted is None:
                raise InvalidInputError(f"{self.path}: {column!r} must hold {kind} in every row, but not in row {row}")
            found.append(converted)
        return found


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _blank_or_text(value: Any) -> str | None:
    return "" if value is None else value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _whole_number(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _identity(value: Any) -> str | None:
    # Some writers make numbers of ids such as 63, in one file of a set and not in the other.
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None
