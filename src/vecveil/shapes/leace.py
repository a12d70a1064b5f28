"""Leave out what LEACE removes: a published baseline."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from vecveil.core.arrays import Matrix
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.erasure import corpus_center, erase, require_releasable
from vecveil.shapes.evidence import Evidence, LabeledEmbeddings
from vecveil.shapes.learner import FittedShape, ShapeLearner

Target = Literal["presence", "words"]

TOLERANCE = 1e-9
"""Covariances below this are rounding. The package's own 0.01 would let words that few texts hold pass for that."""


@dataclass(frozen=True, kw_only=True)
class Leace(ShapeLearner):
    """Release nothing along the directions that LEACE removes, and noise on the rest.

    LEACE (least-squares concept erasure, Belrose et al. 2023) is the affine map that moves vectors least, among those
    after which no linear reader of the concept does better than a constant. What this shape leaves out is exactly what
    LEACE leaves out: the kernel of its projection. LEACE's own map differs only by a public invertible linear map of
    what is released, since it puts something in the place of the kernel that follows from the rest; so either release
    can be computed from the other (docs/shape-proofs.md). It promises nothing about readers that are not linear.

    Attributes:
        target: What is erased: `presence` is whether a text holds the concept, one direction; `words` is which of the
            sensitive words it holds, mostly one direction for each word.
    """

    target: Target = "presence"

    def __post_init__(self) -> None:
        one_of(self.target, get_args(Target), "target")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with how many directions are left out and how much of the texts' variance they hold."""
        corpus, dimensions = evidence.corpus, evidence.pairs.dimensions
        vectors = np.asarray(corpus.vectors, dtype=np.float64)
        center = corpus_center(corpus)
        kernel = leace_kernel(vectors, self._labels(corpus))
        count = kernel.shape[1]
        given = f"the {count} of target {self.target!r}; the shape 'canonical' leaves out those that tell most"
        require_releasable(count, dimensions, given=given)
        centered = vectors - center
        facts = {
            "directions": float(count),
            "variance_left_out": float(((centered @ kernel) ** 2).sum() / (centered**2).sum()),
        }
        return FittedShape(shape=erase(kernel, center=center), facts=facts)

    def _labels(self, corpus: LabeledEmbeddings) -> Matrix:
        if self.target == "words":
            return corpus.word_table(corpus.vocabulary).astype(np.float64)
        return np.array([[float(bool(words))] for words in corpus.words])


def leace_kernel(vectors: Matrix, labels: Matrix) -> Matrix:
    """Return an orthonormal basis, as columns, of what LEACE removes from `vectors` to make `labels` unreadable."""
    if not np.ptp(labels, axis=0).any():
        raise InvalidInputError(
            f"all {len(labels)} texts of the corpus hold the same of the concept, or nothing of it, so there is "
            "nothing to leave out"
        )
    try:
        import torch

        with warnings.catch_warnings():
            # Compiled as the package is imported, for a part of it that is not used here.
            warnings.filterwarnings("ignore", message=r".*torch\.jit\.script", category=DeprecationWarning)
            from concept_erasure import LeaceFitter
    except ImportError:
        raise MissingExtraError("concept-erasure", "research") from None
    # The constraint on the trace can't bind, since P S Pᵀ = S^½ (1 - U Uᵀ) S^½ is never more than S; off, no rounding
    # error can switch it on.
    fitter = LeaceFitter.fit(
        torch.from_numpy(vectors), torch.from_numpy(labels), svd_tol=TOLERANCE, constrain_cov_trace=False
    )
    removed = fitter.eraser.proj_left.numpy()
    # Directions that fall under the tolerance come as columns of zeros.
    basis, _ = np.linalg.qr(removed[:, np.any(removed != 0, axis=0)])
    if basis.shape[1] == 0:
        raise InvalidInputError("the vectors of the corpus do not depend on the concept: there is nothing to leave out")
    return np.asarray(basis, dtype=np.float64)
