"""The user's own queries, from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vecveil.artifacts import open_source
from vecveil.artifacts.vectors import is_vector_type, vectors_of
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, InvalidRowError

BATCH, TEXT = 4096, "text"


def read_queries(path: str | Path) -> list[str] | Embeddings:
    """Return the texts of a file (Parquet, Arrow, JSONL, CSV, TSV, lines), or its vectors where it has no texts."""
    table = open_source(Path(path))
    if not table.rows:
        raise InvalidInputError(f"{path} has no rows")
    if TEXT in table.schema.names:
        texts = [text for batch in table.batches(BATCH) for text in batch.column(TEXT).to_pylist()]
        for row, text in enumerate(texts):
            if not isinstance(text, str) or not text.strip():
                raise InvalidRowError(row, f"of {path} has no text")
        return texts
    columns = [name for name in table.schema.names if is_vector_type(table.schema.field(name).type)]
    if len(columns) != 1:
        raise InvalidInputError(
            f"{path} must have a column {TEXT!r} or one column of vectors, got {', '.join(table.schema.names)}"
        )
    found, row = [], 0
    for batch in table.batches(BATCH):
        found.append(vectors_of(batch.column(columns[0]), first_row=row))
        row += batch.num_rows
    if len({part.shape[1] for part in found}) > 1:
        raise InvalidInputError(f"the vectors of {path} have different numbers of dimensions")
    return np.concatenate(found)
