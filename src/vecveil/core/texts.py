"""One column of texts as a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from vecveil.core.errors import InvalidInputError

T = TypeVar("T")

_TABLE_ATTRIBUTES = ("columns", "column_names")


def to_texts(texts: Iterable[T]) -> list[T]:
    """Return the entries of one column, unchecked.

    Takes a list, a pandas or polars Series, an Arrow array, a table's column, or any other iterable.

    Raises:
        InvalidInputError: For a single string, and for a table, whatever number of columns it has: iterating over one
            gives its columns, or just their names.
    """
    kind: Any = type(texts)
    if isinstance(texts, str):
        raise InvalidInputError("texts must be a list of texts, got one string; put it into a list")
    # The class is asked, not the object: a Series also answers to the labels of its index.
    if isinstance(texts, Mapping) or any(hasattr(kind, name) for name in _TABLE_ATTRIBUTES):
        raise InvalidInputError(
            f"texts must be one column, got a whole table ({kind.__name__}); hand in its column of texts, as in "
            "table['text']"
        )
    if hasattr(kind, "to_pylist"):
        # Iterating over an Arrow column gives scalars of its own, which are no strings.
        return cast(list[T], cast(Any, texts).to_pylist())
    if not isinstance(texts, Iterable):
        raise InvalidInputError(f"texts must be a list of texts, got {kind.__name__}")
    return list(texts)
