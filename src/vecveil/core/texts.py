"""Texts: a column of them as a list, and without control characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from vecveil.core.errors import InvalidInputError

T = TypeVar("T")

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0, DEL, C1, what turns the direction of writing, separators of lines, and halves of surrogate pairs."""

_TABLE_ATTRIBUTES = ("columns", "column_names")


def shorten(message: str, most: int = 300) -> str:
    """Return a message in one line without control characters, cut to `most` characters: it may quote anything."""
    plain = " ".join(strip_controls(message).split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


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


def strip_controls(text: str) -> str:
    """Return `text` without what moves a cursor, colors a terminal or reorders letters; tabs and new lines stay."""
    return _CONTROLS.sub("", text)
