"""Leave out the directions that tell most of sensitive words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.checks import at_least, fraction, not_negative, positive
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.erasure import corpus_center, count_affordable, erase, most_directions, require_releasable
from vecveil.shapes.evidence import Evidence, LabeledEmbeddings
from vecveil.shapes.learner import FittedShape, ShapeLearner
from vecveil.shapes.search_quality import ConceptFreeReference

ROUNDING = 1e-6
"""Directions that tell less than this, over the first, are rounding: there are no more than words, or dimensions."""


@dataclass(frozen=True, kw_only=True)
class Canonical(ShapeLearner):
    """Release nothing along the directions by which sensitive words can be told apart, and noise on the rest.

    A canonical analysis of the vectors of the corpus against the words of its texts finds the directions from which
    linear readers of the words take most, beside what search loses without them. What must go to leave readers nothing
    is the span of the word means (where all of it goes, this is LEACE's kernel); where only a part can go without
    spoiling the vectors for their purpose, those that tell most of the words for what they cost go first.

    Attributes:
        directions: How many are left out, or all that the words give where those are fewer; 0 takes as many as `keep`
            allows.
        keep: How good search must stay where `directions` is 0, over what it was: how near the texts that it finds
            are, apart from the concept (`vecveil.shapes.search_quality`).
        ridge: Added to the variance of every direction before correlating, over the mean variance: directions in
            which texts hardly differ correlate with anything by chance.
        cost: How much a share of what vectors say apart from the concept counts against the same share of what they
            tell of the words; 0 looks at the words alone.
        rarest: Words in fewer texts than this count as one word. The mean of a word that one text holds is the vector
            of that text, which a shape should not be made of.
    """

    directions: int = 0
    keep: float = 0.95
    ridge: float = 0.2
    cost: float = 0.3
    rarest: int = 2

    def __post_init__(self) -> None:
        at_least(self.directions, 0, "directions")
        fraction(self.keep, "keep")
        positive(self.ridge, "ridge")
        not_negative(self.cost, "cost")
        at_least(self.rarest, 1, "rarest")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with how much of the words and of everything else went with the directions."""
        corpus, dimensions = evidence.corpus, evidence.pairs.dimensions
        found = evidence.remember(
            ("canonical", self.ridge, self.rarest, self.cost), lambda: self._find_directions(evidence)
        )
        require_releasable(self.directions, dimensions, given=f"directions {self.directions}")
        given = found.directions[:, : self.directions or most_directions(dimensions)]
        count = given.shape[1] if self.directions else count_affordable(given, self.keep, evidence)
        facts = {
            "directions": float(count),
            "directions_of_words": float(found.directions.shape[1]),
            "share_of_words": float(found.words[:count].sum()),
        }
        if self.cost:
            facts["share_of_everything_else"] = float(found.rest[:count].sum())
        return FittedShape(shape=erase(given[:, :count], center=corpus_center(corpus)), facts=facts)

    def _find_directions(self, evidence: Evidence) -> WordDirections:
        texts = ConceptFreeReference.from_evidence(evidence) if self.cost else None
        return find_word_directions(evidence.corpus, ridge=self.ridge, rarest=self.rarest, texts=texts, cost=self.cost)


@dataclass(frozen=True, kw_only=True, eq=False)
class WordDirections:
    """The directions by which words can be told, the first to leave out first.

    Attributes:
        directions: As columns; they span what all linear readers of the words read from.
        words: Share of what linear readers take from all of the vector that goes with each direction.
        rest: Share of what vectors say apart from the concept that goes with each; zeros where that is not known.
    """

    directions: Matrix
    words: Vector
    rest: Vector


def find_word_directions(
    corpus: LabeledEmbeddings,
    *,
    ridge: float,
    rarest: int = 1,
    texts: ConceptFreeReference | None = None,
    cost: float = 0.0,
) -> WordDirections:
    """Return the directions of a corpus by which its words can be told.

    With S the covariance of the vectors and M their covariances with the words, each word scaled to unit variance, the
    directions are S^½ U for orthonormal U in the span of S^-½ M. Leaving out S^½ u takes ‖Mᵀ S^-½ u‖² of the variance
    that the best linear readers explain of the words, and ‖R S^-½ u‖² of the variance that the best linear estimate of
    the same texts' vectors without the concept explains of those, where R is their covariance with the vectors. U are
    the eigenvectors of the one, as a share of its total, less `cost` times the other: no other directions of that span
    gain more; with a ridge, as readers see it who pay for long weights (docs/shape-proofs.md).
    """
    present = corpus.common_words(rarest)
    if not present.shape[1]:
        raise InvalidInputError("no text of the corpus holds a sensitive word, so there is nothing to leave out")
    vectors = np.asarray(corpus.vectors, dtype=np.float64)
    centered = vectors - vectors.mean(axis=0)
    spread, axes = np.linalg.eigh(centered.T @ centered / len(centered))
    level = float(spread.mean())
    if level <= 0:
        raise InvalidInputError("all vectors of the corpus are the same, so nothing can be learned from them")
    root = np.sqrt(np.maximum(spread, 0) + ridge * level)
    frequencies = present.mean(axis=0)
    scales = np.sqrt(np.maximum(frequencies * (1 - frequencies), 1e-12))
    means = centered.T @ (present - frequencies) / len(centered) / scales
    readable, tells, _ = np.linalg.svd((axes / root).T @ means, full_matrices=False)
    enough = tells > ROUNDING * max(float(tells[0]), ROUNDING)
    readable, words = readable[:, enough], tells[enough] ** 2 / (tells[enough] ** 2).sum()
    told = np.diag(words)
    costs = np.zeros_like(told)
    if texts is not None:
        everything = (axes / root).T @ texts.covariance()
        held = readable.T @ everything
        costs = held @ held.T / (everything**2).sum()
    _, turned = np.linalg.eigh(told - cost * costs)
    # The most worth leaving out first.
    turned = turned[:, ::-1]
    return WordDirections(
        directions=np.asarray((axes * root) @ (readable @ turned)),
        words=np.einsum("ij,ik,kj->j", turned, told, turned),
        rest=np.einsum("ij,ik,kj->j", turned, costs, turned),
    )
