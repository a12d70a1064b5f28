"""The mark on a collection: what its vectors were protected with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.fields import covers

MARK = "vecveil"  # What the mark is called, where a store gives things names.
START_ANEW = "go on with the same, or delete it to start anew"

_COMPARED = {
    "epsilon": "budget",
    **{key: key for key in ("veil", "mechanism", "noise", "grid", "key")},
    "keep_texts": "choice about texts",
    "columns": "choice of columns",
    "seals": "choice about seals, or key of them",
}
"""What must be the same when a migration is resumed, in a user's words."""


def format_mark(mark: Mapping[str, Any]) -> str:
    """Return a mark as one line of JSON."""
    return json.dumps({MARK: dict(mark)}, sort_keys=True)


def parse_mark(text: str | None, name: str) -> dict[str, Any] | None:
    """Return the mark in the note of a collection; None where there is no note, or one that is not from vecveil."""
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


def require_same_mark(
    found: Mapping[str, Any], wanted: Mapping[str, Any], name: str, *, advice: str = START_ANEW
) -> None:
    """Raise, with what differs and with advice, unless a collection was begun with what is wanted now."""
    differing = [words for key, words in _COMPARED.items() if found.get(key) != wanted.get(key)]
    if differing:
        raise InvalidInputError(f"{name} was begun with another {', another '.join(differing)}; {advice}")
    known = {tuple(path) for path in found["left_out"]}
    fields = sorted(path for path in map(tuple, wanted["left_out"]) if not covers(known, path))
    if fields:
        names = ", ".join(".".join(path) for path in fields)
        raise InvalidInputError(
            f"{name} was begun before these fields read like texts or vectors: {names}; delete it to start anew"
        )
