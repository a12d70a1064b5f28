"""Private concepts, and unions of several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self

from vecveil.concepts.passage import Passage, Spans, merge_overlaps
from vecveil.concepts.removal import remove_spans
from vecveil.concepts.settings import to_keywords, to_settings
from vecveil.core.errors import InvalidInputError


class Concept(ABC):
    """A private concept: terms, patterns, entities, recognizers, annotations, or a union of these.

    A kind of concept is a frozen dataclass that is registered under its `kind`.
    """

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """What its owner calls the concept; empty where it has no name."""
        return ""

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find: its `labels`, or none where it finds whatever comes."""
        return tuple(getattr(self, "labels", ()))

    @property
    def everywhere(self) -> bool:
        """Whether every text may hold it, and some nothing else; such texts are no error then."""
        return False

    @property
    def reads_annotations(self) -> bool:
        """Whether it finds what comes with a text, and nothing in a text alone."""
        return False

    def candidates(self) -> dict[str, tuple[str, ...]]:
        """Return the words of each label where the concept lists them: what may stand in one another's place."""
        return {}

    @abstractmethod
    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return, for each passage, the spans that belong to the concept, in order and disjoint."""

    def search(self, passages: Sequence[Passage]) -> tuple[list[Spans], list[Spans]]:
        """Return, for each passage, its spans, and those of them that a contrast takes out: all for most kinds."""
        found = self.find_all(passages)
        return found, found

    def find(self, text: str | Passage) -> Spans:
        """Return the spans of one text that belong to the concept."""
        return self.find_all([Passage(text) if isinstance(text, str) else text])[0]

    def remove(self, text: str | Passage) -> str:
        """Return the text without the concept: the paper's R(s, C), with clean spacing."""
        return remove_spans(text if isinstance(text, str) else text.text, self.find(text))

    @abstractmethod
    def summary(self) -> Mapping[str, Any]:
        """Return what may be shown of the concept without giving it away: its kind and its size."""

    def settings(self) -> dict[str, Any]:
        """Return the concept as the TOML table that would build it again. Holds private terms."""
        return to_settings(self)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], folder: Path) -> Self:
        """Build the concept from its TOML table without `kind`; paths in the table are relative to `folder`."""
        return cls(**to_keywords(cls, settings))

    def __or__(self, other: Concept) -> Concept:
        # The parts of nested unions stand side by side, and each only once.
        parts = [part for each in (self, other) for part in (each.parts if isinstance(each, Union) else (each,))]
        return Union(parts=tuple(part for number, part in enumerate(parts) if part not in parts[:number]))


@dataclass(frozen=True, kw_only=True)
class Union(Concept):
    """What any of its parts finds; also how a concept gets a name.

    Attributes:
        parts: The concepts that belong together.
        name: What its owner calls the whole.
    """

    kind: ClassVar[str] = "union"

    parts: tuple[Concept, ...]
    name: str = ""

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidInputError("a union needs at least one concept, got none")
        for part in self.parts:
            if not isinstance(part, Concept):
                raise InvalidInputError(f"a union is made of concepts, got {type(part).__name__}")

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that its parts are meant to find."""
        return tuple(dict.fromkeys(chain.from_iterable(part.expected for part in self.parts)))

    @property
    def everywhere(self) -> bool:
        """Whether any part is."""
        return any(part.everywhere for part in self.parts)

    @property
    def reads_annotations(self) -> bool:
        """Whether any part does."""
        return any(part.reads_annotations for part in self.parts)

    def candidates(self) -> dict[str, tuple[str, ...]]:
        """Return the words that its parts list, by label."""
        listed: dict[str, tuple[str, ...]] = {}
        for part in self.parts:
            for label, words in part.candidates().items():
                listed[label] = tuple(dict.fromkeys((*listed.get(label, ()), *words)))
        return listed

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return what any part finds in each passage; overlapping finds are merged."""
        return _merge_parts([part.find_all(passages) for part in self.parts])

    def search(self, passages: Sequence[Passage]) -> tuple[list[Spans], list[Spans]]:
        """Return what any part finds in each passage, and what any part takes out for a contrast."""
        found, taken_out = zip(*(part.search(passages) for part in self.parts), strict=True)
        return _merge_parts(found), _merge_parts(taken_out)

    def summary(self) -> Mapping[str, Any]:
        """Return the summaries of the parts; the name is its owner's and stays out."""
        return {"kind": self.kind, "parts": [dict(part.summary()) for part in self.parts]}

    def settings(self) -> dict[str, Any]:
        """Return the TOML document of the union: its name and a table for each part."""
        named = {"name": self.name} if self.name else {}
        return {**named, "part": [part.settings() for part in self.parts]}


def _merge_parts(found_by_part: Sequence[list[Spans]]) -> list[Spans]:
    return [merge_overlaps(chain.from_iterable(found)) for found in zip(*found_by_part, strict=True)]
