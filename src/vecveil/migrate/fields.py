"""The fields of a payload, which may be inside of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vecveil.veil.values import is_annotation, is_weights

FieldPath = tuple[str, ...]
"""Where a value stands in a payload: the names of the fields that it is inside of, and its own."""

OWN_FIELDS = ("metadata",)
"""Where frameworks put the fields of a row; numbers in it are fields like others, and no vector."""


def leaves(row: Mapping[str, Any], above: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield every value of a payload that has no fields of its own, with its place."""
    for name, value in row.items():
        path = (*above, str(name))
        weights = is_weights(value) and path != OWN_FIELDS
        if isinstance(value, Mapping) and not (weights or is_annotation(value) or is_empty(value)):
            yield from leaves(value, path)
        else:
            yield path, value


def is_empty(value: Any) -> bool:
    """Return whether a value could have fields, and has none."""
    return isinstance(value, Mapping) and not value


def covers(left_out: Iterable[FieldPath], path: FieldPath) -> bool:
    """Return whether a field, or one that it is inside of, is among those that are left out."""
    known = left_out if isinstance(left_out, set) else {*left_out}
    return bool(known) and any(path[:depth] in known for depth in range(len(path) + 1))


def outermost(paths: set[FieldPath]) -> list[FieldPath]:
    """Return, sorted, the fields that are inside of no other of them."""
    return sorted(path for path in paths if not path or not covers(paths, path[:-1]))


def without(row: Mapping[str, Any], left_out: Sequence[FieldPath]) -> dict[str, Any]:
    """Return a payload without some of its fields."""
    if () in left_out:
        return {}
    kept = {}
    for name, value in row.items():
        below = [path[1:] for path in left_out if path[0] == str(name)]
        if () in below:
            continue
        kept[name] = without(value, below) if below and isinstance(value, Mapping) else value
    return kept
