"""Leave out directions of the concept that were found with differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vecveil.accounting import GaussianLoss
from vecveil.core.checks import at_least, positive
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.difference import principal_axes
from vecveil.shapes.erasure import corpus_center, erase, most_directions
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.learner import FittedShape, ShapeLearner

MARGIN = 1.1
"""Directions count that are larger than what noise alone gives, by this factor."""


@dataclass(frozen=True, kw_only=True)
class PrivateSubspace(ShapeLearner):
    """Release nothing along the directions in which the concept moves vectors most, found by a noisy sum.

    As `subspace`, of the sum of d dᵀ over the differences d of a text and itself without the concept, with Gaussian
    noise on it. Differences are cut to a length L, so that replacing one text moves the sum by at most √2·L². Noise
    alone has eigenvalues of up to 2σ√n in n dimensions: directions beyond that are left out, the others are not
    known. It takes many texts: see docs/shapes.md.

    Attributes:
        epsilon: Privacy loss of the directions for replacing one text, in nats.
        delta: Probability with which it may be exceeded.
        longest: Euclidean length that differences are cut to, chosen without a look at the texts.
        directions: How many are left out at most; 0 for all that stand out.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    longest: float = 0.5
    directions: int = 0

    def __post_init__(self) -> None:
        _ = self.loss
        positive(self.longest, "longest")
        at_least(self.directions, 0, "directions")

    @property
    def loss(self) -> GaussianLoss:
        """What the directions may tell of one text."""
        return GaussianLoss(epsilon=self.epsilon, delta=self.delta)

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape; every fact is a function of the noisy sum.

        Args:
            evidence: The contrast pairs.
            rng: Gives the key of the noise, which is secret if the generator's state is.
            progress: Not needed.
        """
        dimensions = evidence.pairs.dimensions
        differences = np.asarray(evidence.pairs.with_concept, dtype=np.float64) - evidence.pairs.without_concept
        lengths = np.maximum(np.linalg.norm(differences, axis=1), 1e-30)
        cut = differences * np.minimum(1.0, self.longest / lengths)[:, np.newaxis]
        moved = math.sqrt(2) * self.longest**2
        noise = np.triu(self.loss.draw(rng, dimensions, dimensions, sensitivity=moved))
        sizes, axes = principal_axes(cut.T @ cut + noise + np.triu(noise, 1).T)
        edge = MARGIN * 2 * self.loss.deviation(moved) * math.sqrt(dimensions)
        count = min(int((sizes > edge).sum()), self.directions or most_directions(dimensions))
        if count == 0:
            raise InvalidInputError(
                f"no direction of the concept stands out from the noise of epsilon {self.epsilon:g}: the largest has "
                f"{sizes[0] / edge:.2g} of what is needed; it takes more texts, a larger epsilon, or public texts"
            )
        facts = {"directions": float(count), "largest_over_noise": float(sizes[0] / edge)}
        shape = erase(axes[:, :count], center=corpus_center(evidence.corpus))
        return FittedShape(shape=shape, facts=facts, loss=self.loss)
