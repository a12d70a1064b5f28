"""Tables of texts or vectors, read in batches of constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError, VecveilError
from vecveil.core.texts import strip_controls

READERS = {
    "parquet": "columnar:ParquetSource",
    "arrow": "columnar:ArrowSource",
    "feather": "columnar:ArrowSource",
    "npy": "columnar:NpySource",
    "jsonl": "textual:JsonLinesSource",
    "ndjson": "textual:JsonLinesSource",
    "csv": "textual:CsvSource",
    "tsv": "textual:CsvSource",
    "txt": "textual:LinesSource",
}
"""Module and class for each ending; loaded when first needed, since they import pyarrow."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table on disk. Its errors name the file, and never show what is in it.

    Attributes:
        path: The file.
        ending: The kind of file.
        reader: Reads it.
    """

    path: Path
    ending: str
    reader: Any

    @property
    def schema(self) -> Any:
        """The Arrow schema of every batch."""
        return self.reader.schema

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.reader.rows)

    def batches(self, rows: int, *, columns: list[str] | None = None) -> Iterator[Any]:
        """Yield the table, or some of its columns, in Arrow record batches of at most `rows` rows, in order."""
        if columns is None:
            batches = self.reader.batches(rows)
        elif self.ending == "parquet":
            batches = self.reader.batches(rows, columns)
        else:
            batches = (batch.select(columns) for batch in self.reader.batches(rows))
        while True:
            # Only the reading is covered: what the caller does with a batch fails under its own name.
            with _naming_the_file(self.path, self.ending):
                batch = next(batches, None)
                if batch is None:
                    return
                # Arrow reads texts that are none, and fails when they are looked at.
                batch.validate(full=True)
            yield batch


def open_source(path: Path) -> Source:
    """Return the table at `path`, by the ending of its name."""
    if not path.exists():
        raise InvalidInputError(f"there is no file {path}")
    if not path.is_file():
        raise InvalidInputError(f"{path} must be a file, got a folder")
    ending = path.suffix.casefold().lstrip(".")
    if ending not in READERS:
        raise UnknownNameError("kind of file", path.suffix or path.name, [f".{known}" for known in READERS])
    module, _, name = READERS[ending].partition(":")
    with _naming_the_file(path, ending):
        reader = getattr(import_module(f"vecveil.files.{module}"), name)(path)
    if len(set(reader.schema.names)) < len(reader.schema.names):
        raise ArtifactError(f"{path} has two columns of the same name")
    for number, name in enumerate(reader.schema.names, start=1):
        if strip_controls(name) != name:
            raise ArtifactError(f"{path} has control characters in the name of column {number}; rename it")
    return Source(path=path, ending=ending, reader=reader)


@contextmanager
def _naming_the_file(path: Path, ending: str) -> Iterator[None]:
    try:
        yield
    except VecveilError:
        raise
    except Exception as error:  # noqa: BLE001
        # Readers fail in many ways on damaged files, and their messages quote values. So only their kind is shown.
        kind = type(error).__name__
        raise ArtifactError(f"{path} cannot be read as {ending}: it is damaged, or something else ({kind})") from None
