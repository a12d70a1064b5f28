"""Vectors as Arrow columns, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError

VECTOR = "vector"
"""Name of a column of vectors where nobody has named it: of a `.npy` file, or of protected texts."""


def is_vector_type(kind: Any) -> bool:
    """Return whether an Arrow type is a list of floating-point numbers."""
    import pyarrow as pa

    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(listed and pa.types.is_floating(kind.value_type))


def is_annotation_type(kind: Any) -> bool:
    """Return whether an Arrow type is a list of annotated spans (structs with start, end and label)."""
    import pyarrow as pa

    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)) or not pa.types.is_struct(kind.value_type):
        return False
    return {"start", "end", "label"} <= {field.name for field in kind.value_type}


def vectors_of(column: Any, *, first_row: int = 0) -> Embeddings:
    """Return an Arrow column of equally long lists as one array; `first_row` numbers its rows in errors."""
    if not is_vector_type(column.type):
        raise InvalidInputError(f"the vector column must hold lists of floating-point numbers, got {column.type}")
    if column.null_count:
        row = first_row + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise InvalidInputError(f"the vector column has no vector in row {row}")
    values = column.flatten()
    lengths = np.asarray(column.value_lengths()) if hasattr(column, "value_lengths") else None
    width = column.type.list_size if lengths is None else int(lengths[0]) if lengths.size else 0
    if lengths is not None and (lengths != width).any():
        row = first_row + int(np.flatnonzero(lengths != width)[0])
        raise InvalidInputError(f"vectors must have one length, got {width} and, in row {row}, another")
    # A missing number inside a list becomes NaN here and is refused as such later.
    array: Embeddings = values.to_numpy(zero_copy_only=False).reshape(len(column), width)
    return array


def column_of(vectors: Embeddings) -> Any:
    """Return an array as an Arrow column of fixed-size lists."""
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(vectors).reshape(-1)), vectors.shape[1])
