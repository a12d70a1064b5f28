"""Rules that recognize texts, annotations and vectors, in files and stores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from numbers import Number
from typing import Any

import numpy as np

from vecveil.concepts import Concept, Passage

PRIVATE_NAMES = {"text", "entities"}
"""Fields that are left out whatever they hold and whatever is protected."""

FEW_WORDS, FEW_CHARACTERS = 4, 64
"""A field of strings whose typical value is longer than this is a text, or a vector written out, and no id."""

SEARCHED, REMEMBERED = 256, 1_000_000
"""Values that are searched together, and values that are known to hold nothing of the concept, at most."""

_NUMBERS = re.compile(r"[\s\[\](),;0-9.eE+-]+")
_ANNOTATION = {"start", "end", "label"}


class ConceptFinder:
    """Looks for a concept in values that would be stored beside protected vectors; each value is searched once.

    Args:
        concept: What is private; None, or one that every text holds, is never found.
    """

    def __init__(self, concept: Concept | None) -> None:
        self._concept = None if concept is None or concept.everywhere else concept
        self._known: set[str] = set()

    @property
    def looks(self) -> bool:
        """Whether there is anything to look for."""
        return self._concept is not None

    def finds(self, values: Iterable[Any]) -> bool:
        """Return whether the concept is in any of the values, however deep, or in what they name their fields."""
        if self._concept is None:
            return False
        new = [words for words in dict.fromkeys(map(_write_out, values)) if words and words not in self._known]
        # Together, since a search takes longer to begin than to go through a few words.
        lines = ["\n".join(new[start : start + SEARCHED]) for start in range(0, len(new), SEARCHED)]
        if any(self._concept.find_all([Passage(text) for text in lines])):
            return True
        if len(self._known) < REMEMBERED:
            self._known.update(new)
        return False


def join_strings(value: Any) -> str:
    """Return all strings in a value, however deep in lists and mappings, as one."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("latin-1")
    if isinstance(value, Mapping):
        return " ".join(filter(None, map(join_strings, value.values())))
    if isinstance(value, list | tuple | set | frozenset):
        return " ".join(filter(None, map(join_strings, value)))
    return value if isinstance(value, str) else ""


def _write_out(value: Any) -> str:
    """Return a value as words: strings, names of fields, numbers and dates."""
    if isinstance(value, Mapping):
        return " ".join(part for entry in value.items() for part in map(_write_out, entry) if part)
    if isinstance(value, list | tuple | set | frozenset):
        return " ".join(filter(None, map(_write_out, value)))
    if isinstance(value, Number | date | time):
        return str(value)
    return join_strings(value)


def is_long(words: str) -> bool:
    """Return whether a string is longer than an id or a label."""
    return len(words) > FEW_CHARACTERS or len(words.split()) > FEW_WORDS


def reads_like_text(values: int, long: int) -> bool:
    """Return whether a field is a text: of its values that say something, so many are long."""
    return 0 < values <= 2 * long


def is_annotation(value: Any) -> bool:
    """Return whether a value is a mapping with start, end and label."""
    return isinstance(value, Mapping) and {*value} >= _ANNOTATION


def is_number(value: Any) -> bool:
    """Return whether a value is a number, and no yes or no."""
    return isinstance(value, Number) and not isinstance(value, bool)


def is_weights(value: Any) -> bool:
    """Return whether a value is a mapping of nothing but numbers, and several: a vector that names its dimensions."""
    return isinstance(value, Mapping) and len(value) > 1 and all(map(is_number, value.values()))


def holds_numbers(value: Any) -> bool:
    """Return whether a value is a vector by the look of it: numbers in a list, however deep, or in a mapping of them.

    A vector that is written out as a string is one, and so are bytes that are longer than an id.
    """
    if isinstance(value, np.ndarray) or is_weights(value):
        return True
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value) > FEW_CHARACTERS
    if isinstance(value, str):
        return len(value) > FEW_CHARACTERS and _NUMBERS.fullmatch(value) is not None
    if isinstance(value, Mapping):
        return any(map(holds_numbers, value.values()))
    return isinstance(value, list | tuple | set | frozenset) and any(map(_numbers_inside, value))


def holds_names(value: Any, names: set[str]) -> bool:
    """Return whether a value has, however deep, a field of these names or with a text for a name, or an annotation."""
    if isinstance(value, Mapping):
        named = any(str(name).casefold() in names or is_long(str(name)) for name in value)
        return named or is_annotation(value) or any(holds_names(entry, names) for entry in value.values())
    return isinstance(value, list | tuple) and any(holds_names(entry, names) for entry in value)


def _numbers_inside(entry: Any) -> bool:
    """Return whether an entry of a list holds a number: a list of words with their weights is a vector too."""
    if isinstance(entry, Mapping):
        return any(is_number(value) or holds_numbers(value) for value in entry.values())
    return isinstance(entry, Number) or holds_numbers(entry)
