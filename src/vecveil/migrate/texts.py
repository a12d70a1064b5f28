"""Which fields of a payload are texts, and stay behind: the texts themselves beside protected vectors undo the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vecveil.migrate.fields import OWN_FIELDS, FieldPath, covers, is_empty, leaves, outermost
from vecveil.veil.values import (
    PRIVATE_NAMES,
    holds_names,
    holds_numbers,
    is_long,
    is_number,
    reads_like_text,
    strings_in,
)

__all__ = ["MOST_FIELDS", "NAMES_OF_TEXTS", "FieldPath", "TextFinder"]

NAMES_OF_TEXTS = PRIVATE_NAMES | {"document", "documents", "page_content"}
"""Fields that are left out whatever they hold."""

MOST_FIELDS = 10_000
"""Fields that are told apart. Where there are more, names are data, and what has so many is left out as a whole."""


@dataclass
class _Seen:
    said: bool = False
    values: int = 0
    long: int = 0
    named: bool = False
    vector: bool = False
    number: bool = True


@dataclass(frozen=True)
class TextFinder:
    """Looks at every row and then says which fields are texts, and which are vectors.

    Attributes:
        most: Fields that are told apart.
    """

    most: int = MOST_FIELDS
    _fields: dict[FieldPath, _Seen] = field(default_factory=dict, init=False)
    _crowded: set[FieldPath] = field(default_factory=set, init=False)

    def look(self, payload: Sequence[Mapping[str, Any]]) -> None:
        """Take some rows into account."""
        for row in payload:
            for path, value in leaves(row):
                seen = self._fields.get(path) or self._new(path)
                if seen is not None and value is not None and not is_empty(value):
                    self._see(seen, path, value)

    def vectors(self) -> list[FieldPath]:
        """Return the fields that are left out always: vectors, and what has too many fields to look at."""
        vectors = {path for path, seen in self._fields.items() if seen.vector}
        return outermost(self._crowded | self._weights() | vectors)

    def found(self) -> list[FieldPath]:
        """Return the fields that are left out unless texts go along: those, texts, and what reads like texts."""
        texts = {path for path, seen in self._fields.items() if seen.named or reads_like_text(seen.values, seen.long)}
        return outermost({*self.vectors(), *texts})

    def others(self, left_out: Sequence[FieldPath]) -> list[FieldPath]:
        """Return the fields that go along."""
        known = {*left_out}
        return sorted(path for path, seen in self._fields.items() if seen.said and not covers(known, path))

    def _new(self, path: FieldPath) -> _Seen | None:
        """Return what is known of a field from now on; None where it is inside of one that is left out as a whole."""
        if covers(self._crowded, path):
            return None
        long = next((depth for depth, name in enumerate(path) if is_long(name)), None)
        if long is not None:
            # Such a name is a text itself, and would stand in the mark and in messages.
            self._give_up(path[:long])
            return None
        self._fields[path] = _Seen()
        if len(self._fields) > self.most:
            self._give_up(self._most_crowded())
        return self._fields.get(path)

    def _see(self, seen: _Seen, path: FieldPath, value: Any) -> None:
        seen.said = True
        seen.named |= any(name.casefold() in NAMES_OF_TEXTS for name in path) or holds_names(value, NAMES_OF_TEXTS)
        seen.vector |= holds_numbers(value)
        seen.number &= is_number(value)
        words = strings_in(value)
        if words:
            seen.values += 1
            seen.long += is_long(words)

    def _weights(self) -> set[FieldPath]:
        """Return the fields that hold nothing but numbers, and several over all rows: a word and its weight in each."""
        inside: dict[FieldPath, list[_Seen]] = {}
        for path, seen in ((path, seen) for path, seen in self._fields.items() if seen.said):
            for depth in range(1, len(path)):
                inside.setdefault(path[:depth], []).append(seen)
        numbers = {path for path, found in inside.items() if len(found) > 1 and all(one.number for one in found)}
        return numbers - {OWN_FIELDS}

    def _most_crowded(self) -> FieldPath:
        inside = {path[: depth + 1] for path in self._fields for depth in range(len(path))}
        crowds = Counter(path[:-1] for path in inside)
        return min(crowds, key=lambda path: (-crowds[path], len(path)))

    def _give_up(self, crowd: FieldPath) -> None:
        """No longer tell apart what is inside of a field."""
        for path in [path for path in self._fields if path[: len(crowd)] == crowd]:
            del self._fields[path]
        self._crowded.difference_update([path for path in self._crowded if path[: len(crowd)] == crowd])
        self._crowded.add(crowd)
