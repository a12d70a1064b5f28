"""Sources in text form: JSON lines, CSV and plain lines."""

from __future__ import annotations

import csv
import itertools
import json
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from vecveil.core.errors import ArtifactError

T = TypeVar("T")

PIECE = 4096
"""Rows that are looked at together when the types of a JSON file are found out."""


class JsonLinesSource:
    """One JSON object a line. Read once for the types of all columns, then again for the rows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: int = 0
        kinds: dict[str, Any] = {}
        for piece in _split(self._read_objects(), PIECE):
            self.rows += len(piece)
            for name in dict.fromkeys(key for _, row in piece for key in row):
                kinds[name] = self._build_column(name, piece, kind=None, above=kinds.get(name)).type
        self.schema: Any = pa.schema(kinds)

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for piece in _split(self._read_objects(), rows):
            columns = [self._build_column(field.name, piece, kind=field.type) for field in self.schema]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _build_column(
        self, name: str, piece: Sequence[tuple[int, dict[str, Any]]], *, kind: Any, above: Any = None
    ) -> Any:
        """Return one column of a piece; where a value doesn't fit, say where, and not what it is."""
        values = [row.get(name) for _, row in piece]

        def build(end: int) -> Any:
            array = pa.array(values[:end], kind)
            return array if above is None else array.cast(_common_type(above, array.type))

        def fails(end: int) -> bool:
            try:
                build(end)
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                return True
            return False

        if not fails(len(values)):
            return build(len(values))
        first = bisect_left(range(1, len(values) + 1), True, key=fails)
        raise ArtifactError(
            f"{self._path}: column {name!r} holds values that don't go together or are too large, "
            f"first in line {piece[first][0]}"
        )

    def _read_objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in _number_lines(self._path):
            try:
                value = json.loads(line)
            except RecursionError:
                raise ArtifactError(f"{self._path}: line {number} is nested too deep") from None
            except ValueError:
                raise ArtifactError(f"{self._path}: line {number} is not JSON") from None
            if not isinstance(value, dict):
                raise ArtifactError(f"{self._path}: line {number} must be a JSON object, got {type(value).__name__}")
            yield number, value


class CsvSource:
    """A table with a header. Every column stays text: an id of 007 must not come out as 7."""

    def __init__(self, path: Path) -> None:
        self._path, self._delimiter = path, "\t" if path.suffix.casefold() == ".tsv" else ","
        first = next(_decode_lines(path), "")
        # Where the comma is the decimal sign, spreadsheets separate with semicolons.
        if self._delimiter == "," and ";" in first and "," not in first:
            self._delimiter = ";"
        header = next(self._read_records(), None)
        if header is None:
            raise ArtifactError(f"{path} has no header line")
        self.schema: Any = pa.schema([(name, pa.string()) for name in header])
        self.rows: int = sum(1 for _ in self._read_records()) - 1

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for piece in _split(itertools.islice(self._read_records(), 1, None), rows):
            columns = zip(*piece, strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in columns], schema=self.schema)

    def _read_records(self) -> Iterator[list[str]]:
        # Python refuses fields of more than 128 KiB unless told otherwise, and reports can be longer.
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        reader = csv.reader(_decode_lines(self._path), delimiter=self._delimiter, strict=True)
        width = None
        try:
            for record in filter(None, reader):
                width = width or len(record)
                if len(record) != width:
                    message = f"line {reader.line_num} has {len(record)} fields, the header has {width}"
                    raise ArtifactError(f"{self._path}: {message}")
                yield record
        except csv.Error as error:
            raise ArtifactError(f"{self._path}: line {reader.line_num}: {error}") from None


class LinesSource:
    """One text a line; blank lines are left out, and `line` tells where each text stood."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.schema: Any = pa.schema([("line", pa.int64()), ("text", pa.string())])
        self.rows: int = sum(1 for _ in _number_lines(path))

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for piece in _split(_number_lines(self._path), rows):
            numbers, texts = zip(*piece, strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(texts)], schema=self.schema)


def _number_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, each with its number from 1 and without its end."""
    for number, line in enumerate(_decode_lines(path), start=1):
        if line.strip():
            yield number, line.rstrip("\r\n")


def _decode_lines(path: Path) -> Iterator[str]:
    # Line by line, not through a decoding stream, which would read ahead and couldn't say which line is at fault.
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise ArtifactError(f"{path}: line {number} is not UTF-8") from None


def _common_type(first: Any, second: Any) -> Any:
    schemas = [pa.schema([("values", kind)]) for kind in (first, second)]
    return pa.unify_schemas(schemas, promote_options="permissive").field(0).type


def _split(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while piece := list(itertools.islice(iterator, size)):
        yield piece
