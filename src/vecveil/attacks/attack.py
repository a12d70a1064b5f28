"""What every attack must do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

Embed: TypeAlias = Callable[[Sequence[str]], Embeddings]
"""Texts to clean vectors: what someone with access to the model can do."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Released vectors beside what they were made of.

    Attributes:
        vectors: What an attacker sees: one row per text, as it left the defence.
        texts: What it wants: the text of each row.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Recovery:
    """What an attack reads out of vectors.

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
    """An attack that has seen protected vectors of texts it knows, and now reads others."""

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return what the attack reads out of `vectors`."""
        ...

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return, for each row, the probability that the attack gives to each of its true sensitive tokens.

        This is the paper's P(t | vector): it is asked about the truth, and knows it only to be asked.
        """
        ...


class Attack(Protocol):
    """How an attacker learns. A dataclass: its fields are what users may set."""

    @property
    def releases(self) -> int:
        """Number of fresh releases of each record that the attacker gets, and averages; 1 for most."""
        ...

    def train(
        self,
        sample: Sample,
        held_out: Sample,
        rng: np.random.Generator,
        *,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> TrainedAttack:
        """Return the attack, trained on `sample` and stopped when it no longer improves on `held_out`.

        The same samples and generator state give the same attack.

        Args:
            sample: Vectors as they are released, with their texts: the attacker adapts to the defence.
            held_out: More of the same, to stop by.
            rng: Of initial weights and batches.
            folder: Where to keep checkpoints. A training that was stopped goes on from them.
            progress: Told how far the training is.
        """
        ...
