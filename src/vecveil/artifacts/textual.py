"""Sources that are text themselves: JSON lines, CSV and plain lines. Imports pyarrow."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from vecveil.core.errors import ArtifactError

PIECE = 4096
"""Rows that are looked at together when the types of a JSON file are found out."""


class JsonLinesSource:
    """One JSON object a line. Read once for the types of all columns, then again for the rows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: int = 0
        schemas = []
        for piece in _pieces(self._objects(), PIECE):
            schemas.append(pa.RecordBatch.from_pylist(_complete(piece)).schema)
            self.rows += len(piece)
        self.schema: Any = pa.unify_schemas(schemas, promote_options="permissive") if schemas else pa.schema({})

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for piece in _pieces(self._objects(), rows):
            yield pa.RecordBatch.from_pylist(piece, schema=self.schema)

    def _objects(self) -> Iterator[dict[str, Any]]:
        for number, line in _numbered_lines(self._path):
            try:
                value = json.loads(line)
            except ValueError:
                raise ArtifactError(f"{self._path}: line {number} is not JSON") from None
            if not isinstance(value, dict):
                raise ArtifactError(f"{self._path}: line {number} must be a JSON object, got {type(value).__name__}")
            yield value


class CsvSource:
    """A table with a header. Every column stays text: an id of 007 must not come out as 7."""

    def __init__(self, path: Path, *, delimiter: str) -> None:
        self._path, self._delimiter = path, delimiter
        header = next(self._records(), None)
        if header is None:
            raise ArtifactError(f"{path} has no header line")
        if len(set(header)) != len(header):
            raise ArtifactError(f"{path} has two columns of the same name")
        self.schema: Any = pa.schema([(name, pa.string()) for name in header])
        self.rows: int = sum(1 for _ in self._records()) - 1

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for piece in _pieces(itertools.islice(self._records(), 1, None), rows):
            columns = zip(*piece, strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in columns], schema=self.schema)

    def _records(self) -> Iterator[list[str]]:
        width = None
        with self._path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=self._delimiter, strict=True)
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
        self.rows: int = sum(1 for _ in _numbered_lines(path))

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for piece in _pieces(_numbered_lines(self._path), rows):
            numbers, texts = zip(*piece, strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(texts)], schema=self.schema)


def _numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line.rstrip("\n")
    except UnicodeDecodeError:
        raise ArtifactError(f"{path}: not UTF-8 after line {number}") from None


def _pieces(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while piece := list(itertools.islice(iterator, size)):
        yield piece


def _complete(piece: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give every row every key, since Arrow takes the columns of a list from its first row."""
    keys = dict.fromkeys(key for row in piece for key in row)
    return [{key: row.get(key) for key in keys} for row in piece]
