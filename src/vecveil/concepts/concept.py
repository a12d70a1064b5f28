"""What is private, as something that can be found in a text and taken out of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from vecveil.concepts.passage import Passage
from vecveil.concepts.removal import remove_spans
from vecveil.concepts.settings import keywords_of, settings_of
from vecveil.concepts.span import Spans


class Concept(ABC):
    """A private concept: terms, patterns, entities, recognisers, annotations, or a union of these.

    A kind of concept is a frozen dataclass that is registered under its `kind`.
    """

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """What its owner calls the concept; empty where it has no name."""
        return ""

    @abstractmethod
    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return, for each passage, the spans that belong to the concept, in order and disjoint."""

    def find_contrast(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return, for each passage, the spans whose absence makes the contrast: all of the concept for most kinds."""
        return self.find_all(passages)

    def settings(self) -> dict[str, Any]:
        """Return the concept as the TOML table that would build it again. Holds private terms."""
        return settings_of(self)

    @abstractmethod
    def summary(self) -> Mapping[str, Any]:
        """Return what may be told of the concept without telling it: its kind and its size."""

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], folder: Path) -> Self:
        """Build the concept from its TOML table without `kind`; `folder` is where the table's paths start."""
        del folder
        return cls(**keywords_of(cls, settings))

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find; none where it takes whatever comes."""
        return ()

    def find(self, text: str | Passage) -> Spans:
        """Return the spans of one text that belong to the concept."""
        return self.find_all([Passage(text) if isinstance(text, str) else text])[0]

    def remove(self, text: str | Passage) -> str:
        """Return the text without the concept: the paper's R(s, C), with clean spacing."""
        return remove_spans(text if isinstance(text, str) else text.text, self.find(text))

    def __or__(self, other: Concept) -> Concept:
        from vecveil.concepts.union import Union

        return Union.of(self, other)
