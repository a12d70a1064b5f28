"""Known-item search: a text found again by its own words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Vector, spread_rows
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.utility.neighbors import find_nearest, rank_candidates
from vecveil.utility.task import Encoder, Protected, SidedTask, TaskScores, encode_side, standard_error

TOP = 10
"""Texts that a reader looks at."""

FEWEST_WORDS = 4
"""Words of a text that is searched for: half of them make a query."""

_WORD = re.compile(r"\S+")


class Query(NamedTuple):
    """Words of a text as a query, the row of that text, and whether they hold the concept."""

    text: str
    row: int
    names_concept: bool


@dataclass(frozen=True, kw_only=True)
class KnownItem(SidedTask):
    """Search for a text by a run of its own words, and see how far up it stands. It needs no labels.

    Scores are mean reciprocal ranks among the first ten: of all searches, of those whose words don't hold the concept,
    and of all after the owner has reranked what the store returned.

    Attributes:
        texts: The corpus.
        private: For each text, the characters (from, to) that hold the concept; empty where nobody knows.
        words: Most words of a query; half of the text at most.
        queries: Most texts that are searched for, taken evenly.
        rerank: Candidates that the store returns for the owner to rerank; 0 measures no reranking.
        protected: Which side is protected.
        seed: Of the words that are chosen.
    """

    texts: tuple[str, ...] = field(repr=False)
    private: tuple[tuple[tuple[int, int], ...], ...] = field(default=(), repr=False)
    words: int = 8
    queries: int = 1000
    rerank: int = 100
    protected: Protected = "documents"
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("words", 1), ("queries", 1), ("rerank", 0), ("seed", 0)):
            at_least(getattr(self, name), least, name)
        if self.private and len(self.private) != len(self.texts):
            raise InvalidInputError(
                f"private must be one list per text, got {len(self.private)} for {len(self.texts)} texts"
            )
        if not self.searches:
            raise InvalidInputError(f"known-item needs texts of {FEWEST_WORDS} words or more, got none")

    @property
    def name(self) -> str:
        """The name of the task."""
        return "known-item"

    @cached_property
    def searches(self) -> tuple[Query, ...]:
        """The queries: a run of words of each text that is searched for."""
        rng = np.random.default_rng(self.seed)
        long = [row for row, text in enumerate(self.texts) if len(text.split()) >= FEWEST_WORDS]
        found = []
        for row in (long[number] for number in spread_rows(len(long), self.queries)):
            words = list(_WORD.finditer(self.texts[row]))
            count = min(self.words, len(words) // 2)
            first = int(rng.integers(len(words) - count + 1))
            start, end = words[first].start(), words[first + count - 1].end()
            names = bool(self.private) and any(start < to and since < end for since, to in self.private[row])
            found.append(Query(self.texts[row][start:end], row, names))
        return tuple(found)

    def score(self, encoder: Encoder) -> TaskScores:
        """Return mean reciprocal ranks among the first ten, and how often the text is among them at all."""
        asked = [query.text for query in self.searches]
        queries = encode_side(encoder, asked, side="query", protected=self.protected)
        documents = encode_side(encoder, self.texts, side="document", protected=self.protected)
        rows, _ = find_nearest(queries, documents, max(TOP, self.rerank))
        wanted = np.array([query.row for query in self.searches])
        plain = _reciprocal_ranks(rows, wanted)
        named = np.array([query.names_concept for query in self.searches])
        scores = {"mrr@10": float(plain.mean()), "recall@10": float((plain > 0).mean())}
        if self.private and not named.all():
            scores["mrr@10_unnamed"] = float(plain[~named].mean())
        if self.rerank:
            clean = encoder.embed_clean(asked), encoder.embed_clean(self.texts)
            after = _reciprocal_ranks(rank_candidates(*clean, rows[:, : self.rerank]), wanted)
            scores[f"mrr@10_rerank{self.rerank}"] = float(after.mean())
        error = standard_error(plain)
        return TaskScores(main="mrr@10", scores=scores, protected=self.protected, cases=len(asked), error=error)


def _reciprocal_ranks(found: NDArray[np.intp], wanted: NDArray[np.intp]) -> Vector:
    """Return one over the rank of what was wanted, 0 where it is not among the first ten."""
    hits = found[:, :TOP] == wanted[:, np.newaxis]
    return np.asarray(np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0.0))
