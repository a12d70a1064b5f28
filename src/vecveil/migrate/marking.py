"""The mark on a shadow: what it was protected with, so that no other veil, budget or key goes on with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.texts import Path
from vecveil.veil import Guard

MARK = "vecveil"
"""What the mark is called, where a store gives things names."""

_TOLD = {
    "veil": "veil",
    "mechanism": "mechanism",
    "epsilon": "budget",
    "noise": "noise",
    "grid": "grid",
    "key": "key",
    "keep_texts": "choice about texts",
}
"""What must be the same when a migration goes on, in a user's words."""


def mark_of(guard: Guard, *, keep_texts: bool, left_out: Sequence[Path]) -> dict[str, Any]:
    """Return the mark of what `guard` protects; nothing in it is secret."""
    label = {"key": None, **guard.protection.label()}
    return {**label, "keep_texts": keep_texts, "left_out": [list(path) for path in left_out]}


def require_same(found: Mapping[str, Any], wanted: Mapping[str, Any], shadow: str) -> None:
    """Raise, with what differs, unless a shadow was begun with what would go on now."""
    differing = [words for name, words in _TOLD.items() if found.get(name) != wanted.get(name)]
    if differing:
        raise InvalidInputError(
            f"{shadow} was begun with another {', another '.join(differing)}; go on with the same, or delete it to "
            "start anew"
        )
    fields = {tuple(path) for path in wanted["left_out"]} - {tuple(path) for path in found["left_out"]}
    if fields:
        names = ", ".join(".".join(path) for path in sorted(fields))
        raise InvalidInputError(
            f"{shadow} was begun before these fields read like texts: {names}; delete it to start anew"
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
    if not isinstance(mark, dict) or "left_out" not in mark:
        raise ArtifactError(f"the mark of {name} is damaged")
    return mark
