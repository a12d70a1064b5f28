"""Single words in groups of a meaning, as the paper has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reproduction.datasets import DATASETS
from reproduction.lab import Lab
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.concepts import Passage, Union, contrast_set
from vecveil.concepts.terms import Terms
from vecveil.core.arrays import Vector, spread_rows
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import resolve_embedder
from vecveil.shapes import ContrastPairs

SOURCES = ("sts12", "stsb", "sts14")
"""Data sets whose sentences are searched for the words."""

FEWEST = 8
"""Sentences that must hold a word for a mask to be learned for it."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "weekdays": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "country": (
        *("China", "India", "Russia", "Iran", "Iraq", "Israel", "Pakistan", "Syria", "Egypt", "France", "Germany"),
        *("Japan", "Ukraine", "Turkey", "Mexico", "Canada", "Australia", "Spain", "Italy", "Afghanistan"),
    ),
    "months": (
        *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
        *("November", "December"),
    ),
    "us": ("US", "American", "Washington", "Obama", "Congress", "Senate", "Texas", "California"),
    "gender": ("man", "woman", "men", "women", "boy", "girl", "male", "female"),
    "number": ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    "city": ("London", "Paris", "Beijing", "Moscow", "Baghdad", "Boston", "Chicago", "Cairo", "Jerusalem", "Damascus"),
}
"""The paper's groups; it prints some of the words, and these are ours, as they are written: "may" is no month."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Words:
    """Sentences that hold words of some groups, and the pairs by which a word is learned.

    Attributes:
        lab: Where the sentences come from.
        groups: Which words.
    """

    lab: Lab
    groups: Mapping[str, tuple[str, ...]]

    @cached_property
    def sentences(self) -> list[Passage]:
        """All sentences that hold one of the words, and as many that hold none; fewer in a quick look."""
        found: dict[str, None] = {}
        for name in SOURCES:
            found |= dict.fromkeys(passage.text for passage in DATASETS[name].texts(self.lab.data))
        passages = [Passage(text) for text in found]
        spans = _terms(self.words).find_all(passages)
        held = [one for one, marks in zip(passages, spans, strict=True) if marks]
        others = [one for one, marks in zip(passages, spans, strict=True) if not marks]
        most = self.lab.effort.sizes.texts
        some = [held[row] for row in spread_rows(len(held), None if most is None else 2 * most)]
        return some + [others[row] for row in spread_rows(len(others), len(some))]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all groups."""
        return tuple(word for words in self.groups.values() for word in words)

    @cached_property
    def concept(self) -> Union:
        """Every word that some sentence holds as a category of its own."""
        return Union(parts=tuple(_terms((word,), label=word) for word in self.words if self._holding(word)))

    @cached_property
    def embed(self) -> MemoizedEmbedder:
        """The embedder."""
        return MemoizedEmbedder(resolve_embedder(self.lab.embedder, cache=self.lab.cache), self.lab.progress)

    def frequent(self, most: int | None = None) -> dict[str, list[str]]:
        """Return the words of each group that enough sentences hold, the most frequent first."""
        counts = {word: len(self._holding(word)) for word in self.words}
        found = {}
        for group, words in self.groups.items():
            known = sorted((word for word in words if counts[word] >= FEWEST), key=lambda word: -counts[word])
            if known:
                found[group] = known[:most]
        if not found:
            raise InvalidInputError(f"no word of {', '.join(self.groups)} is in {FEWEST} sentences of the data")
        return found

    def pairs(self, word: str, among: Sequence[Passage] | None = None) -> ContrastPairs:
        """Return the sentences that hold a word, and the same without it; all of them, or those among some."""
        passages = self._holding(word, among)
        contrast = contrast_set(_terms((word,)), passages, drop_empty=True, allow_everywhere=True)
        return ContrastPairs(self.embed(list(contrast.with_concept)), self.embed(list(contrast.without_concept)))

    def _holding(self, word: str, among: Sequence[Passage] | None = None) -> list[Passage]:
        passages = self.sentences if among is None else among
        spans = _terms((word,)).find_all(passages)
        return [one for one, marks in zip(passages, spans, strict=True) if marks]


def _terms(words: tuple[str, ...], label: str = "WORD") -> Terms:
    return Terms(terms=words, label=label, case_sensitive=True)


def top(values: Vector, number: int) -> list[int]:
    """Return the places of the largest values, the largest first; of equal ones the first."""
    return [int(place) for place in np.argsort(-values, kind="stable")[:number]]


def sentences_note(lab: Lab) -> str:
    """Return where the sentences come from."""
    return f"Sentences of {', '.join(SOURCES)}; the paper does not say which it took. Embedder {lab.embedder}."
