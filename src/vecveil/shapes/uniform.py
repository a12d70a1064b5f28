"""The same noise along every axis, as a shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.core.progress import Progress, silent
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.learner import FittedShape, ShapeLearner
from vecveil.shapes.shape import NoiseShape


@dataclass(frozen=True, kw_only=True)
class Uniform(ShapeLearner):
    """Give every axis a variance of one. Nothing is learned, so nothing of the texts is in the shape."""

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the unit shape of the pairs' dimension."""
        return FittedShape(shape=NoiseShape(variances=np.ones(evidence.pairs.dimensions)))
