"""The mark on a shadow: what it was protected with, so that no other veil, budget or key goes on with it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.fields import FieldPath, covers
from vecveil.veil import Guard

MARK = "vecveil"
"""What the mark is called, where a store gives things names."""

ANEW = "go on with the same, or delete it to start anew"
"""What to do about a shadow that was begun with something else."""

_TOLD = {
    "veil": "veil",
    "mechanism": "mechanism",
    "epsilon": "budget",
    "noise": "noise",
    "grid": "grid",
    "key": "key",
    "keep_texts": "choice about texts",
    "columns": "choice of columns",
}
"""What must be the same when a migration goes on, in a user's words."""


def mark_of(
    guard: Guard, *, keep_texts: bool, left_out: Sequence[FieldPath], columns: Mapping[str, str | None]
) -> dict[str, Any]:
    """Return the mark of what `guard` protects, for a shadow that is made now; nothing in it is secret.

    Args:
        guard: What protects.
        keep_texts: Whether texts go along.
        left_out: Fields that don't.
        columns: What the store calls ids and vectors, where it has a choice.
    """
    return {
        "key": None,
        **guard.protection.label(),
        "normalised": guard.opened_veil.fingerprint.normalised,
        "keep_texts": keep_texts,
        "columns": dict(columns),
        "left_out": [list(path) for path in left_out],
        # Tells a swap that is half done from the backup of an earlier one.
        "made": secrets.token_hex(8),
    }


def require_same(found: Mapping[str, Any], wanted: Mapping[str, Any], name: str, *, advice: str = ANEW) -> None:
    """Raise, with what differs, unless a collection was begun with what would go on now.

    Args:
        found: Its mark.
        wanted: The mark that it would get now.
        name: Name of the collection.
        advice: What to do about it.
    """
    differing = [words for key, words in _TOLD.items() if found.get(key) != wanted.get(key)]
    if differing:
        raise InvalidInputError(f"{name} was begun with another {', another '.join(differing)}; {advice}")
    known = [tuple(path) for path in found["left_out"]]
    fields = sorted(path for path in map(tuple, wanted["left_out"]) if not covers(known, path))
    if fields:
        names = ", ".join(".".join(path) for path in fields)
        raise InvalidInputError(
            f"{name} was begun before these fields read like texts or vectors: {names}; delete it to start anew"
        )


def written(mark: Mapping[str, Any]) -> str:
    """Return a mark as one line of JSON."""
    return json.dumps({MARK: dict(mark)}, sort_keys=True)


def read_mark(text: str | None, name: str) -> dict[str, Any] | None:
    """Return the mark in what a collection says of itself; None where it says nothing, or something of its own."""
    try:
        found = json.loads(text or "null")
    except ValueError:
        return None
    if not isinstance(found, dict) or MARK not in found:
        return None
    mark = found[MARK]
    if not isinstance(mark, dict) or "left_out" not in mark or "keep_texts" not in mark:
        raise ArtifactError(f"the mark of {name} is damaged")
    return mark
