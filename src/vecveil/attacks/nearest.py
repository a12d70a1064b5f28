"""Nearest-neighbor inversion: the known text whose vector is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecveil.attacks.attack import Attack, Embed, Flags, Recovery, Sample, TrainingRun
from vecveil.concepts import words
from vecveil.core.arrays import Embeddings, Matrix, Vector, to_unit_length
from vecveil.core.checks import at_least, embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

_SHARPNESS = (2.0, 5.0, 10.0, 20.0, 40.0, 80.0)
_BLOCK = 512


@dataclass(frozen=True, kw_only=True)
class NearestNeighbor(Attack):
    """Answers with the nearest text of those it knows, and with how often its neighbors hold each sensitive word.

    It knows the training texts, and compares with their releases or, where it can call the model, with their clean
    vectors, whichever reads held-out texts better: noise on one side of a comparison hides less than noise on both,
    but what is left out on one side alone is a difference to all texts.

    Attributes:
        neighbors: Texts whose words are counted for the scores.
        embed: Access to the model, passed in by the audit; None compares with the released vectors alone.
    """

    neighbors: int = 20
    embed: Embed | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        at_least(self.neighbors, 1, "neighbors")
        if self.embed is not None and not callable(self.embed):
            raise InvalidInputError(f"embed must be a function of texts, got {self.embed!r}")

    def train(self, run: TrainingRun) -> TrainedNearestNeighbor:
        """Return the attack; all that is learned is how fast a neighbor's word loses weight with its distance."""
        run.require_words("nearest")
        sample, held_out = run.sample, run.held_out
        if not len(held_out):
            raise InvalidInputError("nearest needs held-out texts to weigh its neighbors by, got none")
        compared = [sample] if self.embed is None else [_embed_texts(sample, self.embed), sample]
        tried: list[tuple[float, TrainedNearestNeighbor]] = []
        for known in compared:
            attack = self._compare_with(known)
            found = [attack.find(block) for block in _split(held_out.vectors)]
            for sharpness in _SHARPNESS:
                sharp = replace(attack, sharpness=sharpness)
                scores = np.concatenate([sharp.weigh(one) for one in found])
                tried.append((_log_likelihood(scores, sharp.vocabulary, held_out), sharp))
        return max(tried, key=lambda one: one[0])[1]

    def _compare_with(self, known: Sample) -> TrainedNearestNeighbor:
        return TrainedNearestNeighbor(
            known=to_unit_length(known.vectors),
            texts=known.texts,
            vocabulary=known.vocabulary,
            present=known.mark_words(known.vocabulary),
            neighbors=min(self.neighbors, len(known)),
            sharpness=_SHARPNESS[0],
        )


class NearestTexts(NamedTuple):
    """For each vector: the nearest known text, and the rows of the nearest ones with their cosines."""

    first: list[int]
    rows: NDArray[np.intp]
    similarities: Matrix


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedNearestNeighbor:
    """The known texts, their vectors at length one, and which sensitive words each holds."""

    known: Matrix
    texts: tuple[str, ...]
    vocabulary: tuple[str, ...]
    present: Flags
    neighbors: int
    sharpness: float

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the nearest known text of each vector."""
        released = embeddings(vectors, dimensions=self.known.shape[1])
        found = [self.find(block) for block in _split(released)]
        texts = [self.texts[row] for one in found for row in one.first]
        scores = [np.zeros((0, len(self.vocabulary))), *(self.weigh(one) for one in found)]
        return Recovery(
            words=tuple(frozenset(words(text)) for text in texts),
            vocabulary=self.vocabulary,
            scores=np.concatenate(scores),
            texts=tuple(texts),
        )

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the weight of those neighbors that hold each true token."""
        return sample.pick_scores(self.recover(sample.vectors, progress=progress).scores, self.vocabulary)

    def find(self, vectors: Embeddings) -> NearestTexts:
        """Return the nearest texts of each vector."""
        similarity = to_unit_length(vectors) @ self.known.T
        rows = np.argpartition(-similarity, self.neighbors - 1, axis=1)[:, : self.neighbors]
        return NearestTexts(similarity.argmax(axis=1).tolist(), rows, np.take_along_axis(similarity, rows, axis=1))

    def weigh(self, found: NearestTexts) -> Matrix:
        """Return the weight of those of the nearest texts that hold each word."""
        near = found.similarities
        weights = np.exp(self.sharpness * (near - near.max(axis=1, keepdims=True)))
        weights /= weights.sum(axis=1, keepdims=True)
        scores = np.stack([weight @ self.present[rows] for weight, rows in zip(weights, found.rows, strict=True)])
        # The sum of the weights may be above 1 by a rounding error.
        return np.asarray(np.minimum(scores, 1.0))


def _split(vectors: Embeddings) -> list[Embeddings]:
    return [vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK)]


def _embed_texts(sample: Sample, embed: Embed) -> Sample:
    """Return the clean vectors of a sample's texts, each text once: another release of it has no other clean vector."""
    first = {text: row for row, text in reversed(list(enumerate(sample.texts)))}
    kept = sample.rows(sorted(first.values()))
    clean = embeddings(embed(kept.texts), dimensions=sample.vectors.shape[1], name="clean vectors")
    return Sample(vectors=clean, texts=kept.texts, tokens=kept.tokens)


def _log_likelihood(scores: Matrix, vocabulary: Sequence[str], held_out: Sample) -> float:
    """Return the mean log-likelihood of the held-out words; no probability counts as quite 0 or 1."""
    probabilities = np.clip(scores, 1e-3, 1 - 1e-3)
    truth = held_out.mark_words(vocabulary)
    return float(np.where(truth, np.log(probabilities), np.log(1 - probabilities)).mean())
