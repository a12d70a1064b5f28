"""A concept that counts how often it searches a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vecveil.concepts.passage import Passage, Spans
from vecveil.concepts.terms import Terms


@dataclass(frozen=True, kw_only=True)
class CountingTerms(Terms):
    """Terms that note every text they search in.

    Attributes:
        searched: The texts, in order, one entry for each search.
    """

    searched: list[str] = field(default_factory=list, compare=False)

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        self.searched.extend(passage.text for passage in passages)
        return super().find_all(passages)
