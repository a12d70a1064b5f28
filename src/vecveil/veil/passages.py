"""Passages of a file, in which a concept is looked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from vecveil.concepts import Passage, Span
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.files import Source, open_source

BATCH = 4096

ANNOTATIONS = "entities"
"""Column of annotations where none is named."""


class TextRows(NamedTuple):
    """Texts of a file, and the values of other columns in the same rows."""

    passages: list[Passage]
    columns: dict[str, list[Any]]


def read_passages(
    path: str | Path, *, text_column: str = "text", annotations_column: str | None = None, skip_empty: bool = False
) -> list[Passage]:
    """Return every text of a file, with the annotations that came with it where there are some.

    Args:
        path: Parquet, Arrow, JSONL, CSV, TSV or plain lines.
        text_column: Column that holds the text.
        annotations_column: Column that holds lists of {start, end, label}; "entities", if there is one, where None.
        skip_empty: Leave rows without a text out; otherwise one such row is an error.
    """
    return read_text_rows(
        path, text_column=text_column, annotations_column=annotations_column, skip_empty=skip_empty
    ).passages


def read_text_rows(
    path: str | Path,
    *,
    text_column: str = "text",
    annotations_column: str | None = None,
    skip_empty: bool = False,
    also: Sequence[str] = (),
) -> TextRows:
    """Return every text of a file as `read_passages` does, with other columns.

    Args:
        path: The file.
        text_column: Column that holds the text.
        annotations_column: Column that holds annotations.
        skip_empty: Leave rows without a text out.
        also: Further columns.
    """
    source = open_source(Path(path))
    if source.rows == 0:
        raise InvalidInputError(f"{path} has no rows")
    columns = source.schema.names
    one_of(text_column, columns, f"column of {path}")
    marks = ANNOTATIONS if annotations_column is None else one_of(annotations_column, columns, f"column of {path}")
    for name in also:
        one_of(name, columns, f"column of {path}")
    found: list[Passage] = []
    others: dict[str, list[Any]] = {name: [] for name in also}
    for row, (text, marked, values) in enumerate(_rows(source, text_column, marks, also)):
        if _has_text(text, row, skip_empty=skip_empty):
            found.append(to_passage(text, marked, row))
            for name, value in zip(also, values, strict=True):
                others[name].append(value)
    if not found:
        raise InvalidInputError(f"no row of {path} has a text")
    return TextRows(found, others)


def _rows(
    source: Source, text_column: str, annotations_column: str, also: Sequence[str]
) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
    """Yield each row's text, its annotations, None where the file has no column of them, and further values."""
    annotated = annotations_column in source.schema.names
    for batch in source.batches(BATCH):
        texts = batch.column(text_column).to_pylist()
        marked = batch.column(annotations_column).to_pylist() if annotated else [None] * len(texts)
        others = zip(*(batch.column(name).to_pylist() for name in also), strict=True) if also else repeat(())
        yield from zip(texts, marked, others, strict=False)


def _has_text(text: Any, row: int, *, skip_empty: bool) -> bool:
    if isinstance(text, str) and text.strip():
        return True
    if skip_empty:
        return False
    if text is not None and not isinstance(text, str):
        raise InvalidRowError(row, f"has no text, but {type(text).__name__}")
    raise InvalidRowError(row, "has no text; leave such rows out with skip_empty=True (--skip-empty)")


def to_passage(text: str, marked: Any, row: int) -> Passage:
    """Return a text with its annotations, or raise with the row at fault where they are none."""
    if not isinstance(marked, list):
        return Passage(text)
    try:
        return Passage(text, tuple(Span(int(span["start"]), int(span["end"]), str(span["label"])) for span in marked))
    except (KeyError, TypeError, ValueError):
        # Whatever was found in its place may be private, so it is not shown.
        raise InvalidRowError(
            row, "has a wrong annotation; each must be {start, end, label} with offsets within the text"
        ) from None
