"""Fields of a payload, and which of them are texts or vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vecveil.veil import values

FieldPath = tuple[str, ...]
"""Where a value is in a payload: the names of the fields that it is inside of, and its own."""

TEXT_NAMES = values.PRIVATE_NAMES | {"document", "documents", "page_content"}
"""Fields that are left out whatever they hold."""

OWN_FIELDS = ("metadata",)
"""Where frameworks put the fields of a row; numbers in it are fields like others, and no vector."""

MOST_FIELDS = 10_000
"""Fields that are told apart. Where there are more, names are data, and what has so many is left out as a whole."""


def find_leaves(row: Mapping[str, Any], above: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield every value of a payload that has no fields of its own, with its path."""
    for name, value in row.items():
        path = (*above, str(name))
        weights = values.is_weights(value) and path != OWN_FIELDS
        if isinstance(value, Mapping) and value and not (weights or values.is_annotation(value)):
            yield from find_leaves(value, path)
        else:
            yield path, value


def covers(left_out: set[FieldPath], path: FieldPath) -> bool:
    """Return whether a field, or one that it is inside of, is among those that are left out."""
    return any(path[:depth] in left_out for depth in range(len(path) + 1))


def find_outermost(paths: set[FieldPath]) -> list[FieldPath]:
    """Return, sorted, the fields that are inside of no other of them."""
    return sorted(path for path in paths if not path or not covers(paths, path[:-1]))


def remove_fields(row: Mapping[str, Any], left_out: Sequence[FieldPath]) -> dict[str, Any]:
    """Return a payload without some of its fields."""
    if () in left_out:
        return {}
    kept = {}
    for name, value in row.items():
        below = [path[1:] for path in left_out if path[0] == str(name)]
        if () not in below:
            kept[name] = remove_fields(value, below) if below and isinstance(value, Mapping) else value
    return kept


def read_field(row: Mapping[str, Any], path: FieldPath) -> Any:
    """Return the value of a field; None where the payload has none."""
    for name in path:
        row = row.get(name) if isinstance(row, Mapping) else None  # type: ignore[assignment]
    return row


def add_field(row: Mapping[str, Any], path: FieldPath, value: Any) -> dict[str, Any]:
    """Return a payload with one more field."""
    name, *rest = path
    return {**row, name: add_field(row.get(name) or {}, tuple(rest), value) if rest else value}


@dataclass
class _Field:
    has_values: bool = False
    strings: int = 0
    texts: int = 0
    long_strings: int = 0
    names_concept: bool = False
    named_as_text: bool = False
    is_vector: bool = False
    only_numbers: bool = True

    def add(self, path: FieldPath, value: Any) -> None:
        self.has_values = True
        named = any(name.casefold() in TEXT_NAMES for name in path)
        self.named_as_text |= named or values.holds_names(value, TEXT_NAMES)
        self.is_vector |= values.holds_numbers(value)
        self.only_numbers &= values.is_number(value)
        self.texts += isinstance(value, str) and bool(value.strip())
        words = values.join_strings(value)
        if words:
            self.strings += 1
            self.long_strings += values.is_long(words)


@dataclass(frozen=True)
class TextFinder:
    """Looks at every row and then says which fields are texts, and which are vectors.

    Attributes:
        concept: Looks for words of the concept, which are private however short.
        most: Fields that are told apart.
    """

    concept: values.ConceptFinder = field(default_factory=lambda: values.ConceptFinder(None))
    most: int = MOST_FIELDS
    _fields: dict[FieldPath, _Field] = field(default_factory=dict, init=False)
    _crowded: set[FieldPath] = field(default_factory=set, init=False)

    def add(self, payload: Sequence[Mapping[str, Any]]) -> None:
        """Take some rows into account."""
        found: dict[FieldPath, list[Any]] = {}
        for row in payload:
            for path, value in find_leaves(row):
                known = self._fields.get(path) or self._add_field(path)
                empty = value is None or (isinstance(value, Mapping) and not value)
                if known is not None and not empty:
                    known.add(path, value)
                    found.setdefault(path, []).append(value)
        for path, together in found.items():
            known = self._fields.get(path)
            if known is not None and not known.names_concept:
                known.names_concept = self.concept.finds(together)

    def find_vectors(self) -> list[FieldPath]:
        """Return the fields that are always left out: vectors, and what has too many fields to look at."""
        vectors = {path for path, known in self._fields.items() if known.is_vector}
        return find_outermost(self._crowded | self._find_weights() | vectors)

    def find_texts(self) -> list[FieldPath]:
        """Return the fields that are left out unless texts are kept: vectors, texts, and what reads like texts."""
        texts = {
            path
            for path, known in self._fields.items()
            if known.named_as_text or known.names_concept or values.reads_like_text(known.strings, known.long_strings)
        }
        return find_outermost({*self.find_vectors(), *texts})

    def find_full_texts(self, rows: int) -> list[FieldPath]:
        """Return the fields that are named or read like texts, and hold one in each of so many rows."""
        full = [path for path in self.find_texts() if self.holds_texts(path, rows)]
        return sorted(full, key=lambda path: (not self._fields[path].named_as_text, len(path), path))

    def holds_texts(self, path: FieldPath, rows: int) -> bool:
        """Return whether a field holds a text in each of so many rows."""
        return path in self._fields and self._fields[path].texts == rows

    def find_others(self, left_out: Sequence[FieldPath]) -> list[FieldPath]:
        """Return the fields that are kept."""
        gone = {*left_out}
        return sorted(path for path, known in self._fields.items() if known.has_values and not covers(gone, path))

    def _add_field(self, path: FieldPath) -> _Field | None:
        """Return a new field; None where it is inside of one that is left out as a whole."""
        if covers(self._crowded, path):
            return None
        long = next((depth for depth, name in enumerate(path) if values.is_long(name)), None)
        if long is not None:
            # Such a name is a text itself, and would be shown in the mark and in messages.
            self._give_up(path[:long])
            return None
        self._fields[path] = _Field()
        if len(self._fields) > self.most:
            self._give_up(self._most_crowded())
        return self._fields.get(path)

    def _find_weights(self) -> set[FieldPath]:
        """Return the fields that hold nothing but numbers, and several over all rows: a word and its weight in each."""
        inside: dict[FieldPath, list[bool]] = {}
        for path, known in self._fields.items():
            for depth in range(1, len(path) if known.has_values else 0):
                inside.setdefault(path[:depth], []).append(known.only_numbers)
        return {path for path, numbers in inside.items() if len(numbers) > 1 and all(numbers)} - {OWN_FIELDS}

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
