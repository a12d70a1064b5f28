"""A corpus as shape learners see it: vectors, and the sensitive words of the text behind each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidInputError


class WordedVectors(Protocol):
    """Vectors beside the sensitive words of their texts. An attacker on a corpus is one too."""

    @property
    def vectors(self) -> Embeddings:
        """The clean vectors of the corpus: texts with the concept and texts without it, in no special order."""
        ...

    @property
    def words(self) -> Sequence[tuple[str, ...]]:
        """The sensitive words of each row's text, each once; none for a text without the concept."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledCorpus:
    """The vectors of a corpus, and the sensitive words of the text behind each.

    Attributes:
        vectors: One row per text, clean.
        words: The sensitive words of each text, each once; none for a text without the concept.
    """

    vectors: Embeddings = field(repr=False)
    words: tuple[tuple[str, ...], ...] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vectors", embeddings(self.vectors, name="vectors of the corpus"))
        if self.vectors.shape[0] != len(self.words):
            raise InvalidInputError(
                f"vectors and words must match one to one, got {self.vectors.shape[0]} and {len(self.words)}"
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class WordTable:
    """Which text holds which sensitive word.

    Attributes:
        vocabulary: The words, sorted.
        present: One row per text, one column per word: 1 where the text holds it.
    """

    vocabulary: tuple[str, ...]
    present: Matrix

    @classmethod
    def of(cls, corpus: WordedVectors) -> WordTable:
        """Return the table of a corpus."""
        vocabulary = tuple(sorted({word for words in corpus.words for word in words}))
        columns = {word: column for column, word in enumerate(vocabulary)}
        present = np.zeros((len(corpus.words), len(vocabulary)))
        for row, words in enumerate(corpus.words):
            present[row, [columns[word] for word in words]] = 1
        return cls(vocabulary=vocabulary, present=present)

    def common(self, rarest: int) -> Matrix:
        """Return `present` with the words that fewer than `rarest` texts hold in one column, if as many hold any."""
        known = self.counts >= rarest
        rare = self.present[:, ~known].any(axis=1, keepdims=True)
        columns = [self.present[:, known], *([rare.astype(np.float64)] if rare.sum() >= rarest else [])]
        return np.concatenate(columns, axis=1)

    @cached_property
    def counts(self) -> Matrix:
        """Number of texts that hold each word."""
        return np.asarray(self.present.sum(axis=0))
