"""Vectors as Arrow columns, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError

VECTOR = "vector"
"""Name of a column of vectors where nobody has named it: of a `.npy` file, or of protected texts."""


def is_vector_type(kind: Any) -> bool:
    """Return whether an Arrow type is a list of floating-point numbers."""
    import pyarrow as pa

    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(listed and pa.types.is_floating(kind.value_type))


def holds_vectors(kind: Any) -> bool:
    """Return whether an Arrow type has, anywhere in it, lists of numbers: embeddings, quantized ones, or token ids."""
    from pyarrow import types

    if _is_list(kind) and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)):
        return True
    return any(holds_vectors(inner) for inner in _inner_types(kind))


def holds_annotations(kind: Any) -> bool:
    """Return whether an Arrow type has, anywhere in it, structs with start, end and label."""
    import pyarrow as pa

    if pa.types.is_struct(kind) and {"start", "end", "label"} <= {field.name for field in kind}:
        return True
    return any(holds_annotations(inner) for inner in _inner_types(kind))


def holds_strings(kind: Any) -> bool:
    """Return whether an Arrow type has, anywhere in it, text or bytes."""
    from pyarrow import types

    checks = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return any(check(kind) for check in checks) or any(holds_strings(inner) for inner in _inner_types(kind))


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    checks = (
        types.is_list,
        types.is_large_list,
        types.is_fixed_size_list,
        types.is_list_view,
        types.is_large_list_view,
    )
    return any(check(kind) for check in checks)


def _inner_types(kind: Any) -> list[Any]:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return [kind.storage_type]
    if _is_list(kind) or pa.types.is_dictionary(kind):
        return [kind.value_type]
    if pa.types.is_map(kind):
        return [kind.key_type, kind.item_type]
    return [field.type for field in kind] if pa.types.is_struct(kind) or pa.types.is_union(kind) else []


def read_vectors(column: Any, *, dimensions: int | None = None, first_row: int = 0) -> Embeddings:
    """Return an Arrow column of equally long lists as one array.

    Args:
        column: Lists of floating-point numbers.
        dimensions: The length that each must have; that of the first where None.
        first_row: Number of its first row in an error.
    """
    if not is_vector_type(column.type):
        raise InvalidInputError(f"the vector column must hold lists of floating-point numbers, got {column.type}")
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise InvalidInputError(f"the vector column has no vector in row {first_row + row}")
    lengths = np.asarray(column.value_lengths())
    width = dimensions if dimensions is not None else int(lengths[0]) if lengths.size else 0
    wrong = np.flatnonzero(lengths != width)
    if wrong.size:
        row = int(wrong[0])
        raise InvalidInputError(f"vectors must have {width} dimensions, got {lengths[row]} in row {first_row + row}")
    # A missing number inside a list becomes NaN here and is refused as such later.
    array: Embeddings = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), width)
    return array


def to_vector_column(vectors: NDArray[Any]) -> Any:
    """Return an array as an Arrow column of fixed-size lists."""
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(vectors).reshape(-1)), vectors.shape[1])
