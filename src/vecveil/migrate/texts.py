"""Which fields of a payload are texts, and stay behind: the texts themselves beside protected vectors undo the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vecveil.veil.columns import FEW_CHARACTERS, FEW_WORDS, PRIVATE_NAMES

Path = tuple[str, ...]
"""Where a value stands in a payload: the names of the fields that it is inside of, and its own."""

NAMES_OF_TEXTS = PRIVATE_NAMES | {"document", "documents", "page_content"}
"""Fields that are left out whatever they hold."""


@dataclass(frozen=True)
class TextFinder:
    """Looks at every row and then says which fields read like texts: those most of whose values are long.

    Attributes:
        seen: How many values each field has that say something.
        long: How many of them are longer than an id or a label.
        sure: Fields that are left out by their name, or because they hold lists of numbers.
    """

    seen: Counter[Path] = field(default_factory=Counter)
    long: Counter[Path] = field(default_factory=Counter)
    sure: set[Path] = field(default_factory=set)

    def look(self, payload: Sequence[Mapping[str, Any]]) -> None:
        """Take some rows into account."""
        for row in payload:
            for path, value in leaves(row):
                if value is None:
                    continue
                if any(name.casefold() in NAMES_OF_TEXTS for name in path) or _holds_numbers(value):
                    self.sure.add(path)
                words = _strings(value)
                if words:
                    self.seen[path] += 1
                    self.long[path] += len(words.split()) > FEW_WORDS or len(words) > FEW_CHARACTERS

    def found(self) -> list[Path]:
        """Return the fields that are left out, sorted."""
        return sorted(self.sure | {path for path, times in self.long.items() if 2 * times > self.seen[path]})


def leaves(row: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value of a payload that is no mapping itself, with its place."""
    for name, value in row.items():
        path = (*above, str(name))
        if isinstance(value, Mapping):
            yield from leaves(value, path)
        else:
            yield path, value


def without(row: Mapping[str, Any], left_out: Sequence[Path]) -> dict[str, Any]:
    """Return a payload without some of its fields."""
    kept = {}
    for name, value in row.items():
        below = [path[1:] for path in left_out if path[0] == str(name)]
        if () in below:
            continue
        kept[name] = without(value, below) if below and isinstance(value, Mapping) else value
    return kept


def _holds_numbers(value: Any) -> bool:
    """Return whether a value is a list of numbers, or of such lists: a vector by the look of it."""
    if isinstance(value, np.ndarray):
        return True
    if not isinstance(value, list | tuple) or not value:
        return False
    return any(isinstance(entry, int | float | np.number) or _holds_numbers(entry) for entry in value)


def _strings(value: Any) -> str:
    """Return all strings in a value, however deep in lists, as one."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, Mapping):
        return " ".join(filter(None, map(_strings, value.values())))
    if isinstance(value, list | tuple):
        return " ".join(filter(None, map(_strings, value)))
    return value if isinstance(value, str) else ""
