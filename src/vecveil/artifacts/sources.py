"""Tables of texts or vectors, read in batches of constant memory: Parquet, Arrow, JSONL, CSV, lines, `.npy`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError


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
    try:
        source = _READERS[ending](path)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise ArtifactError(f"{path} cannot be read as {ending}: {str(error).splitlines()[0]}") from None
    return source


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
