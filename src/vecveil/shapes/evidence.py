"""Evidence for a shape: contrast pairs, a labeled corpus, an attacker."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

if TYPE_CHECKING:
    import torch

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ContrastPairs:
    """Row i of `with_concept` is a text that holds the concept; row i of `without_concept` is it with that removed."""

    with_concept: Embeddings
    without_concept: Embeddings

    def __post_init__(self) -> None:
        first = embeddings(self.with_concept, name="vectors with the concept")
        second = embeddings(self.without_concept, dimensions=first.shape[1], name="vectors without the concept")
        if first.shape[0] != second.shape[0]:
            raise InvalidInputError(f"contrast pairs must match one to one, got {first.shape[0]} and {second.shape[0]}")
        if first.shape[0] < 2:
            raise InvalidInputError(f"a shape needs at least 2 contrast pairs, got {first.shape[0]}")

    def __len__(self) -> int:
        return int(self.with_concept.shape[0])

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.with_concept.shape[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class LabeledEmbeddings:
    """The vectors of a corpus, and the sensitive words of the text behind each.

    Attributes:
        vectors: One clean row per text, with the concept and without it, in no special order.
        words: The sensitive words of each text, each once; none for a text without the concept.
    """

    vectors: Embeddings = field(repr=False)
    words: Sequence[tuple[str, ...]] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vectors", embeddings(self.vectors, name="vectors of the corpus"))
        if self.vectors.shape[0] != len(self.words):
            raise InvalidInputError(
                f"vectors and words must match one to one, got {self.vectors.shape[0]} and {len(self.words)}"
            )

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The sensitive words, sorted."""
        return tuple(sorted({word for words in self.words for word in words}))

    def word_table(self, vocabulary: Sequence[str]) -> NDArray[np.bool_]:
        """Return one row per text and one column per word: whether the text holds it."""
        columns = {word: column for column, word in enumerate(vocabulary)}
        present = np.zeros((len(self.words), len(columns)), dtype=np.bool_)
        for row, words in enumerate(self.words):
            present[row, [columns[word] for word in words if word in columns]] = True
        return present

    def common_words(self, rarest: int) -> Matrix:
        """Return the word table, with words that fewer than `rarest` texts hold as one column if as many hold any."""
        present = self.word_table(self.vocabulary).astype(np.float64)
        known = present.sum(axis=0) >= rarest
        rare = present[:, ~known].any(axis=1, keepdims=True)
        columns = [present[:, known], *([rare.astype(np.float64)] if rare.sum() >= rarest else [])]
        return np.concatenate(columns, axis=1)


@runtime_checkable
class DifferentiableAttack(Protocol):
    """A trained attack that says how sure it is of each sensitive word, as a function that has gradients."""

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The sensitive words that the attack knows."""

    @property
    def network(self) -> torch.nn.Module:
        """Float32 vectors, one per row, to one logit per word of the vocabulary; in evaluation mode."""


class Attacker(Protocol):
    """An attack that can be trained on any release of the corpus."""

    @property
    def held_out(self) -> Sequence[int]:
        """Rows of the corpus that no attack is trained on: training stops by them."""

    def train(
        self, vectors: Embeddings, rng: np.random.Generator, *, progress: Progress = silent
    ) -> DifferentiableAttack:
        """Return the attack as trained on `vectors`, a release of the corpus in its order."""


MakeAttacker: TypeAlias = Callable[[str, Mapping[str, Any], np.random.Generator], Attacker]
"""Takes the name of an attack, its settings and a generator that chooses the rows that are held out."""


class Evidence:
    """What a shape is learned from.

    Args:
        pairs: Vectors of texts with the concept and of the same texts without it.
        corpus: All texts, or a function that embeds them when a learner first asks for them.
        make_attacker: Makes an attacker on the corpus, for learners that look through an attack.
        make_swaps: Embeds texts with other values in place of their own, for learners that look at those.
    """

    def __init__(
        self,
        pairs: ContrastPairs,
        corpus: LabeledEmbeddings | Callable[[], LabeledEmbeddings] | None = None,
        make_attacker: MakeAttacker | None = None,
        make_swaps: Callable[[], ContrastPairs] | None = None,
    ) -> None:
        self.pairs = pairs
        self._corpus, self._make_attacker, self._make_swaps = corpus, make_attacker, make_swaps
        self._known: dict[Hashable, Any] = {}

    def remember(self, key: Hashable, find: Callable[[], T]) -> T:
        """Return what was found before under a key, or find it: learners that differ in little share what is slow."""
        if key not in self._known:
            self._known[key] = find()
        found: T = self._known[key]
        return found

    @cached_property
    def corpus(self) -> LabeledEmbeddings:
        """All texts with their vectors and sensitive words."""
        if self._corpus is None:
            raise InvalidInputError("this shape is learned from a whole corpus, got contrast pairs alone")
        corpus = self._corpus() if callable(self._corpus) else self._corpus
        if corpus.vectors.shape[1] != self.pairs.dimensions:
            raise InvalidInputError(
                f"the vectors of the corpus must have {self.pairs.dimensions} dimensions, got {corpus.vectors.shape[1]}"
            )
        return corpus

    @cached_property
    def swaps(self) -> ContrastPairs:
        """Texts with the concept, and the same texts with other values of the corpus in place of their own."""
        if self._make_swaps is None:
            raise InvalidInputError("this shape is learned from texts with swapped values, got none")
        return self._make_swaps()

    def attacker(self, attack: str, settings: Mapping[str, Any], rng: np.random.Generator) -> Attacker:
        """Return an attacker on the corpus."""
        if self._make_attacker is None:
            raise InvalidInputError("this shape is learned through an attack, got no attacker")
        return self._make_attacker(attack, settings, rng)
