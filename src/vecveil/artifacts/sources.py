"""Tables of texts or vectors, read in batches of constant memory: Parquet, Arrow, JSONL, CSV, lines, `.npy`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError, VecveilError


class Source(Protocol):
    """A table on disk. Batches are Arrow record batches."""

    @property
    def schema(self) -> Any:
        """The Arrow schema of every batch."""
        ...

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        ...


def open_source(path: Path) -> Source:
    """Return the table at `path`, by the ending of its name."""
    if not path.exists():
        raise InvalidInputError(f"there is no file {path}")
    if not path.is_file():
        raise InvalidInputError(f"{path} must be a file, got a folder")
    ending = path.suffix.casefold().lstrip(".")
    if ending not in _READERS:
        raise UnknownNameError("kind of file", path.suffix or path.name, [f".{name}" for name in _READERS])
    with _blaming(path, ending):
        source = _READERS[ending](path)
    if len(set(source.schema.names)) < len(source.schema.names):
        raise ArtifactError(f"{path} has two columns of the same name")
    return _Guarded(path=path, ending=ending, source=source)


@dataclass(frozen=True, kw_only=True)
class _Guarded:
    """A source whose errors name the file, and never show what is in it."""

    path: Path
    ending: str
    source: Source

    @property
    def schema(self) -> Any:
        return self.source.schema

    @property
    def rows(self) -> int:
        return self.source.rows

    def batches(self, rows: int) -> Iterator[Any]:
        batches = self.source.batches(rows)
        while True:
            # Only the reading is guarded: what the caller does with a batch fails under its own name.
            with _blaming(self.path, self.ending):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


@contextmanager
def _blaming(path: Path, ending: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except VecveilError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, EOFError, AttributeError, KeyError) as error:
        # Readers fail in many ways on damaged files, and their messages quote values; so only their kind is told.
        kind = type(error).__name__
        raise ArtifactError(f"{path} cannot be read as {ending}: it is damaged, or something else ({kind})") from None


def _parquet(path: Path) -> Source:
    from vecveil.artifacts.columnar import ParquetSource

    return ParquetSource(path)


def _arrow(path: Path) -> Source:
    from vecveil.artifacts.columnar import ArrowSource

    return ArrowSource(path)


def _npy(path: Path) -> Source:
    from vecveil.artifacts.columnar import NpySource

    return NpySource(path)


def _jsonl(path: Path) -> Source:
    from vecveil.artifacts.textual import JsonLinesSource

    return JsonLinesSource(path)


def _csv(path: Path) -> Source:
    from vecveil.artifacts.textual import CsvSource

    return CsvSource(path, delimiter="\t" if path.suffix.casefold() == ".tsv" else ",")


def _lines(path: Path) -> Source:
    from vecveil.artifacts.textual import LinesSource

    return LinesSource(path)


_READERS: Mapping[str, Callable[[Path], Source]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "feather": _arrow,
    "npy": _npy,
    "jsonl": _jsonl,
    "ndjson": _jsonl,
    "csv": _csv,
    "tsv": _csv,
    "txt": _lines,
}
