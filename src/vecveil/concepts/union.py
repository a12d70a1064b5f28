"""Several concepts as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.span import Spans, disjoint
from vecveil.core.errors import InvalidInputError


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

    @classmethod
    def of(cls, *concepts: Concept) -> Union:
        """Return the union of `concepts`, with the parts of nested unions side by side and each only once."""
        parts = chain.from_iterable(concept.parts if isinstance(concept, Union) else (concept,) for concept in concepts)
        unique: list[Concept] = []
        for part in parts:
            if part not in unique:
                unique.append(part)
        return cls(parts=tuple(unique))

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return what any part finds in each passage; overlapping finds are merged."""
        return _together([part.find_all(passages) for part in self.parts])

    def find_contrast(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return what any part takes out of each passage to make the contrast."""
        return _together([part.find_contrast(passages) for part in self.parts])

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return tuple(dict.fromkeys(chain.from_iterable(part.expected for part in self.parts)))

    def settings(self) -> dict[str, Any]:
        """Return the TOML document of the union: its name and a table for each part."""
        named = {"name": self.name} if self.name else {}
        return {**named, "part": [part.settings() for part in self.parts]}

    def summary(self) -> Mapping[str, Any]:
        """Return the summaries of the parts; the name is its owner's and stays out."""
        return {"kind": self.kind, "parts": [dict(part.summary()) for part in self.parts]}


def _together(by_part: list[list[Spans]]) -> list[Spans]:
    return [disjoint(chain.from_iterable(found)) for found in zip(*by_part, strict=True)]
