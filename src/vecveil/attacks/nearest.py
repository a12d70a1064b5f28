"""Nearest-neighbour inversion: the text that an attacker knows whose vector is nearest to the one it got."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from vecveil.attacks.attack import Embed, Recovery, Sample
from vecveil.attacks.words import Flags, known_scores, present
from vecveil.concepts import words
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import at_least, embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

_SHARPNESS = (2.0, 5.0, 10.0, 20.0, 40.0, 80.0)
_BLOCK = 512


@dataclass(frozen=True, kw_only=True)
class NearestNeighbour:
    """Answers with the nearest text of those it knows, and with how often its neighbours hold each sensitive word.

    It knows the training texts, and compares with their clean vectors where it can call the model: noise on one side
    of a comparison hides less than noise on both.

    Attributes:
        neighbours: Texts whose words are counted for the scores.
        embed: Access to the model, handed in by the audit; None compares with the released vectors instead.
    """

    neighbours: int = 20
    embed: Embed | None = field(default=None, repr=False)

    releases: ClassVar[int] = 1

    def __post_init__(self) -> None:
        at_least(self.neighbours, 1, "neighbours")
        if self.embed is not None and not callable(self.embed):
            raise InvalidInputError(f"embed must be a function of texts, got {self.embed!r}")

    def train(
        self,
        sample: Sample,
        held_out: Sample,
        rng: np.random.Generator,
        *,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> TrainedNearestNeighbour:
        """Return the attack; all that is learned is how fast a neighbour's word loses weight with its distance."""
        del rng, folder, progress
        if not sample.vocabulary:
            raise InvalidInputError("nearest needs training texts with sensitive tokens, got none")
        if not len(held_out):
            raise InvalidInputError("nearest needs held-out texts to weigh its neighbours by, got none")
        known = sample if self.embed is None else _embedded(sample, self.embed)
        attacks = [
            TrainedNearestNeighbour(
                known=_unit(known.vectors),
                texts=known.texts,
                vocabulary=known.vocabulary,
                present=present(known, known.vocabulary),
                neighbours=min(self.neighbours, len(known)),
                sharpness=sharpness,
            )
            for sharpness in _SHARPNESS
        ]
        return max(attacks, key=lambda attack: _fit(attack, held_out))


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedNearestNeighbour:
    """The texts that are known, their vectors, and which of the sensitive words each holds."""

    known: Matrix
    texts: tuple[str, ...]
    vocabulary: tuple[str, ...]
    present: Flags
    neighbours: int
    sharpness: float

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the nearest known text of each vector."""
        del progress
        released = embeddings(vectors, dimensions=self.known.shape[1])
        found, scores = [], []
        for start in range(0, len(released), _BLOCK):
            nearest, chances = self._read(released[start : start + _BLOCK])
            found += [self.texts[row] for row in nearest]
            scores.append(chances)
        return Recovery(
            words=tuple(frozenset(words(text)) for text in found),
            vocabulary=self.vocabulary,
            scores=np.concatenate(scores) if scores else np.zeros((0, len(self.vocabulary))),
            texts=tuple(found),
        )

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the weight of those neighbours that hold each true token."""
        return known_scores(self.recover(sample.vectors, progress=progress).scores, self.vocabulary, sample)

    def _read(self, vectors: Embeddings) -> tuple[list[int], Matrix]:
        similarity = _unit(vectors) @ self.known.T
        nearest = np.argpartition(-similarity, self.neighbours - 1, axis=1)[:, : self.neighbours]
        near = np.take_along_axis(similarity, nearest, axis=1)
        weights = np.exp(self.sharpness * (near - near.max(axis=1, keepdims=True)))
        weights /= weights.sum(axis=1, keepdims=True)
        chances = np.stack([weight @ self.present[rows] for weight, rows in zip(weights, nearest, strict=True)])
        # Weights that add up to 1 may do so with a rounding too many.
        return similarity.argmax(axis=1).tolist(), np.minimum(chances, 1.0)


def _embedded(sample: Sample, embed: Embed) -> Sample:
    """Return the clean vectors of a sample's texts, each text once: another release of it has no other clean vector."""
    first = {text: row for row, text in reversed(list(enumerate(sample.texts)))}
    kept = sample.rows(sorted(first.values()))
    clean = embeddings(embed(kept.texts), dimensions=sample.vectors.shape[1], name="clean vectors")
    return Sample(vectors=clean, texts=kept.texts, tokens=kept.tokens)


def _unit(vectors: Embeddings) -> Matrix:
    wide = np.asarray(vectors, dtype=np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-30))


def _fit(attack: TrainedNearestNeighbour, held_out: Sample) -> float:
    """Return the mean log-likelihood of the held-out words; nothing is ever quite impossible."""
    truth = present(held_out, attack.vocabulary)
    chances = np.clip(attack.recover(held_out.vectors).scores, 1e-3, 1 - 1e-3)
    return float(np.where(truth, np.log(chances), np.log(1 - chances)).mean())
