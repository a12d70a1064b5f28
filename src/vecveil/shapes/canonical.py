"""Leave out the directions that tell most about which sensitive words are there, in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.checks import at_least, fraction, positive
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.affordable import affordable
from vecveil.shapes.corpus import WordedVectors, WordTable
from vecveil.shapes.erasure import erasing, most_directions, required
from vecveil.shapes.learner import FittedShape
from vecveil.shapes.pairs import ContrastPairs

ROUNDING = 1e-6
"""Directions that tell less than this, over the first, are rounding: there are no more than words, or dimensions."""


@dataclass(frozen=True, kw_only=True)
class Canonical:
    """Release nothing along the directions by which sensitive words can be told apart, and noise on the rest.

    A canonical analysis of the vectors of the corpus against the words of its texts finds, one after the other, the
    directions from which linear readers of the words take most. What must go to leave them nothing is the span of the
    word means (where all of it goes, this is LEACE's kernel); where only a part can go without spoiling the vectors for
    their purpose, the best-read directions go first.

    Attributes:
        directions: How many are left out, or all that the words give where those are fewer; 0 takes as many as `keep`
            allows.
        keep: How good search must stay where `directions` is 0, over what it was: how near the texts that it finds
            are, apart from the concept (`vecveil.core.search_quality`).
        ridge: Added to the variance of every direction before correlating, over the mean variance: directions in
            which texts hardly differ correlate with anything by chance.
    """

    directions: int = 0
    keep: float = 0.95
    ridge: float = 0.2

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    reads_corpus: ClassVar[bool] = True

    def __post_init__(self) -> None:
        at_least(self.directions, 0, "directions")
        fraction(self.keep, "keep")
        positive(self.ridge, "ridge")

    def fit(
        self,
        pairs: ContrastPairs,
        rng: np.random.Generator,
        *,
        corpus: WordedVectors | None = None,
        progress: Progress = silent,
    ) -> FittedShape:
        """Return the shape, with how much of the words the directions told, and how much structure is left."""
        del rng, progress
        known = required(corpus, pairs, "canonical")
        found, told = canonical_directions(known, ridge=self.ridge)
        centre = np.asarray(known.vectors, dtype=np.float64).mean(axis=0)
        most = most_directions(pairs.dimensions)
        if self.directions > most:
            raise InvalidInputError(
                f"of {pairs.dimensions} directions at most {most} can be left out, got directions {self.directions}"
            )
        given = found[:, : self.directions or most]
        count = given.shape[1] if self.directions else affordable(given, self.keep, known, pairs)
        share = float((told[:count] ** 2).sum() / (told**2).sum())
        facts = {
            "directions": float(count),
            "directions_of_words": float(found.shape[1]),
            "share_of_what_they_tell": share,
        }
        return FittedShape(shape=erasing(found[:, :count], centre=centre), facts=facts)


def canonical_directions(corpus: WordedVectors, *, ridge: float) -> tuple[Matrix, Vector]:
    """Return directions as columns, those that tell most of the words first, and how much each tells.

    With S the covariance of the vectors and M their covariances with the words, each word scaled to unit variance, the
    directions are S^½ U, where U are the left singular vectors of S^-½ M. The squared singular values add up to the
    shares of variance that the best linear reader explains of each word, summed over the words; leaving out the first
    k directions takes the k largest of them away, and no other k directions take more; with a ridge, of what is read by
    those who pay for long weights.
    """
    table = WordTable.of(corpus)
    if not table.vocabulary:
        raise InvalidInputError("no text of the corpus holds a sensitive word, so there is nothing to leave out")
    vectors = np.asarray(corpus.vectors, dtype=np.float64)
    centred = vectors - vectors.mean(axis=0)
    spread, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    level = float(spread.mean())
    if level <= 0:
        raise InvalidInputError("all vectors of the corpus are the same, so nothing can be learned from them")
    root = np.sqrt(np.maximum(spread, 0) + ridge * level)
    deviations = table.present - table.present.mean(axis=0)
    frequencies = table.counts / len(centred)
    means = centred.T @ deviations / len(centred) / np.sqrt(frequencies * np.maximum(1 - frequencies, 1e-12))
    left, tells, _ = np.linalg.svd((axes / root).T @ means, full_matrices=False)
    enough = tells > ROUNDING * max(float(tells[0]), ROUNDING)
    return np.asarray((axes * root) @ left[:, enough]), np.asarray(tells[enough])
