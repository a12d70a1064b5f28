"""The contract of attacks, and the registry that builds them by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vecveil.concepts import SensitiveToken
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.core.registry import Registry, build

Embed: TypeAlias = Callable[[Sequence[str]], Embeddings]
"""Texts to clean vectors: access to the embedding model."""

Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Released vectors beside the texts that they were made from.

    Attributes:
        vectors: One row per text, as it left the defense. This is all that an attacker sees.
        texts: The text of each row, which the attacker wants.
        tokens: The sensitive tokens of each text, none for a text without the concept.
    """

    vectors: Embeddings
    texts: tuple[str, ...]
    tokens: tuple[tuple[SensitiveToken, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "vectors", embeddings(self.vectors))
        rows = self.vectors.shape[0]
        if not rows == len(self.texts) == len(self.tokens):
            raise InvalidInputError(
                f"vectors, texts and tokens must match, got {rows}, {len(self.texts)} and {len(self.tokens)}"
            )

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Every sensitive word of the sample, sorted."""
        return tuple(sorted({token.word for tokens in self.tokens for token in tokens}))

    def rows(self, chosen: Sequence[int] | NDArray[np.integer[Any]]) -> Sample:
        """Return the rows with these numbers, in this order."""
        numbers = np.asarray(chosen)
        if numbers.dtype == bool:
            raise InvalidInputError(
                "rows are chosen by their numbers, got truth values; numpy.flatnonzero numbers them"
            )
        return Sample(
            vectors=self.vectors[numbers.astype(np.intp)],
            texts=tuple(self.texts[row] for row in numbers.tolist()),
            tokens=tuple(self.tokens[row] for row in numbers.tolist()),
        )

    def count_words(self) -> Counter[str]:
        """Return how many texts hold each sensitive word; a text that was released twice counts once."""
        texts = dict(zip(self.texts, self.tokens, strict=True))
        return Counter(token.word for tokens in texts.values() for token in tokens)

    def mark_words(self, vocabulary: Sequence[str]) -> Flags:
        """Return one row per text, one column per word: whether the word is among the text's sensitive tokens."""
        columns = {word: column for column, word in enumerate(vocabulary)}
        flags = np.zeros((len(self), len(columns)), dtype=bool)
        for row, tokens in enumerate(self.tokens):
            flags[row, [columns[token.word] for token in tokens if token.word in columns]] = True
        return flags

    def pick_scores(self, scores: Matrix, vocabulary: Sequence[str]) -> tuple[Vector, ...]:
        """Return, for each row of `scores`, those of its true tokens; 0 for a word outside of the vocabulary."""
        columns = {word: column for column, word in enumerate(vocabulary)}
        return tuple(
            np.array([row[columns[token.word]] if token.word in columns else 0.0 for token in tokens])
            for row, tokens in zip(scores, self.tokens, strict=True)
        )


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """What an attack is trained with.

    Attributes:
        sample: Vectors as they are released, with their texts: the attacker adapts to the defense.
        held_out: More of the same, to stop by.
        rng: Source of initial weights and batches.
        folder: Where to keep checkpoints. A training that was stopped goes on from them.
        progress: Reports how far the training is.
    """

    sample: Sample
    held_out: Sample
    rng: np.random.Generator
    folder: Path | None = None
    progress: Progress = silent

    def require_words(self, attack: str) -> tuple[str, ...]:
        """Return every sensitive word of the sample, or raise where there is none."""
        if not self.sample.vocabulary:
            raise InvalidInputError(f"{attack} needs training texts with sensitive tokens, got none")
        return self.sample.vocabulary

    def mark_words(self, vocabulary: Sequence[str], attack: str) -> tuple[Flags, Flags]:
        """Return which of the words each text holds, of the sample and of what is held out; raise for none of those."""
        truth, held_truth = self.sample.mark_words(vocabulary), self.held_out.mark_words(vocabulary)
        if not held_truth.any():
            raise InvalidInputError(
                f"{attack} is stopped by what it reads of held-out texts, but no word that it learned is in one of "
                f"them, got {len(self.held_out)}"
            )
        return truth, held_truth


@dataclass(frozen=True, kw_only=True, eq=False)
class Recovery:
    """The output of an attack.

    Attributes:
        words: For each vector, the words that the attack claims to be in its text, as `vecveil.concepts.words` gives
            them. Word-level attacks claim sensitive words; sentence-level ones every word of their reconstruction.
        vocabulary: The sensitive words that the attack knows, from its training texts.
        scores: One row per vector, one column per word of the vocabulary: the larger, the surer that it is there.
            Only the order within the matrix has a meaning.
        texts: The reconstructions, where the attack makes sentences.
    """

    words: tuple[frozenset[str], ...]
    vocabulary: tuple[str, ...]
    scores: Matrix
    texts: tuple[str, ...] | None = None


class TrainedAttack(Protocol):
    """An attack after its training."""

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return what the attack recovers from `vectors`."""

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return, for each row, the probability that the attack gives to each of its true sensitive tokens.

        This is the paper's P(t | vector).
        """


class Attack(Protocol):
    """The settings of an attack. A dataclass: its fields are what users may set."""

    @property
    def releases(self) -> int:
        """Number of fresh releases of each record that the attacker gets, and averages; 1 unless an attack says so."""
        return 1

    def train(self, run: TrainingRun) -> TrainedAttack:
        """Return the attack, trained on the run's sample and stopped when it no longer improves on what is held out.

        The same samples and generator state give the same attack.
        """


@dataclass(frozen=True, kw_only=True, eq=False)
class WordClassifier(ABC):
    """A trained attack that claims the words whose probability is high enough.

    Attributes:
        vocabulary: The words that were learned.
        dimensions: Length of the vectors that it reads.
        threshold: Probability from which a word is claimed.
    """

    vocabulary: tuple[str, ...]
    dimensions: int
    threshold: float

    @abstractmethod
    def probabilities(self, vectors: Embeddings) -> Matrix:
        """Return, for each vector, the probability of each word."""

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the words whose probability reaches the threshold."""
        scores = self.probabilities(vectors)
        claimed = tuple(
            frozenset(self.vocabulary[column] for column in np.flatnonzero(row >= self.threshold)) for row in scores
        )
        return Recovery(words=claimed, vocabulary=self.vocabulary, scores=scores)

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the probabilities of the true tokens; 0 for a word that it did not learn."""
        return sample.pick_scores(self.probabilities(sample.vectors), self.vocabulary)


ATTACKS: Registry[type[Attack]] = Registry(
    kind="attack",
    builtin={
        "averaging": "vecveil.attacks.averaging:Averaging",
        "boosted": "vecveil.attacks.boosted:Boosted",
        "geia": "vecveil.attacks.geia:Geia",
        "mlc": "vecveil.attacks.mlc:Mlc",
        "nearest": "vecveil.attacks.nearest:NearestNeighbor",
        "ridge": "vecveil.attacks.ridge:Ridge",
        "vec2text": "vecveil.attacks.vec2text:Vec2Text",
    },
    group="vecveil.attacks",
)


def build_attack(name: str, settings: Mapping[str, Any] | None = None) -> Attack:
    """Return the attack registered as `name`, with `settings` over its defaults."""
    return build(ATTACKS, name, settings or {})
