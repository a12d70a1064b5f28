"""From a file to the passages that a concept is looked for in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vecveil.artifacts import open_source
from vecveil.concepts import Passage, Span
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, InvalidRowError

BATCH = 4096


def read_passages(
    path: str | Path, *, text_column: str = "text", annotations_column: str | None = None
) -> list[Passage]:
    """Return every text of a file, with the annotations that came with it where there are some.

    Args:
        path: Parquet, Arrow, JSONL, CSV, TSV or plain lines.
        text_column: Column that holds the text.
        annotations_column: Column that holds lists of {start, end, label}; "entities", if there is one, where None.
    """
    source = open_source(Path(path))
    if source.rows == 0:
        raise InvalidInputError(f"{path} has no rows")
    columns = source.schema.names
    one_of(text_column, columns, f"column of {path}")
    marks = "entities" if annotations_column is None else one_of(annotations_column, columns, f"column of {path}")
    found: list[Passage] = []
    for batch in source.batches(BATCH):
        texts = batch.column(text_column).to_pylist()
        spans = batch.column(marks).to_pylist() if marks in columns else [None] * len(texts)
        found.extend(
            _passage(text, marked, row) for row, (text, marked) in enumerate(zip(texts, spans, strict=True), len(found))
        )
    return found


def _passage(text: Any, marked: Any, row: int) -> Passage:
    if not isinstance(text, str) or not text.strip():
        raise InvalidRowError(row, "has no text")
    if not isinstance(marked, list):
        return Passage(text)
    try:
        return Passage(text, tuple(Span(int(span["start"]), int(span["end"]), str(span["label"])) for span in marked))
    except (KeyError, TypeError, ValueError):
        # Whatever was found in its place may be private, so it is not shown.
        raise InvalidRowError(
            row, "has a wrong annotation; each must be {start, end, label} with offsets within the text"
        ) from None
