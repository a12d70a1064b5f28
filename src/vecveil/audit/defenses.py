"""Defenses to compare: none, a veil, plain noise, rewritten texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

import numpy as np

from vecveil.concepts import Concept, Passage
from vecveil.concepts.rewriting import Rewriter
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.key import Key
from vecveil.embedders import Fingerprint
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import ContrastPairs, NoiseShape
from vecveil.shapes.missing_axes import MissingAxesEstimator
from vecveil.veil import Veil
from vecveil.veil.budget import TypicalLengths
from vecveil.veil.provenance import Provenance

Embed: TypeAlias = Callable[[Sequence[str]], Embeddings]


class Defense(Protocol):
    """Lets vectors out."""

    @property
    def noisy(self) -> bool:
        """Whether two releases of one record differ, so that an attacker gains by denoising and by averaging."""
        ...

    @property
    def axes(self) -> Matrix | None:
        """The public axes along which the noise is independent; None for the coordinate axes."""
        ...

    def protect(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return what is stored in place of the vectors `clean` of `passages`; the mean of it over several times."""
        ...


@dataclass(frozen=True, kw_only=True)
class Undefended:
    """The positive control: vectors as the embedder makes them."""

    noisy: bool = False
    axes: Matrix | None = None

    def protect(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the vectors themselves."""
        del passages, rng, times
        return clean


@dataclass(frozen=True, kw_only=True, eq=False)
class Veiled:
    """A veil at one budget, through the same release as everywhere; only its randomness is seeded, to be repeatable.

    Attributes:
        veil: What protects.
        epsilon: Literal budget.
        grid: What releases are rounded to.
        keyed: Whether the noise of a record comes from a key, so that releasing it again tells nothing new.
    """

    veil: Veil
    epsilon: float
    grid: str = "float32"
    keyed: bool = False
    noisy: bool = True

    @property
    def axes(self) -> Matrix | None:
        """The axes of the shape."""
        return self.veil.shape.axes

    def protect(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the mean of releases with fresh noise, or of those of one key, which is drawn at each call."""
        del passages
        if not len(clean):
            return clean
        key, seeded = (Key(rng.bytes(32)), None) if self.keyed else (None, rng)
        release = self.veil.release(epsilon=self.epsilon, grid=self.grid, key=key, rng=seeded)
        total = sum(release.grid.values(release.protect_vectors(clean)).astype(np.float64) for _ in range(times))
        return np.asarray(total / times, dtype=clean.dtype)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rewritten:
    """A text-level baseline: the text is rewritten, then embedded like any other.

    Attributes:
        rewriter: Takes the concept out of texts.
        concept: What is private.
        embed: The embedder.
        seed: Of what replaces the concept.
        known: Texts that were rewritten together, since a replacement is borrowed from the other texts of a corpus; by
            text, since a task knows no annotations.
    """

    rewriter: Rewriter
    concept: Concept
    embed: Embed
    seed: int
    known: Mapping[str, str] = field(default_factory=dict, repr=False)
    noisy: bool = False
    axes: Matrix | None = None

    @classmethod
    def over_corpus(
        cls, corpus: Sequence[Passage], rewriter: Rewriter, concept: Concept, embed: Embed, seed: int
    ) -> Rewritten:
        """Return the baseline with all of a corpus rewritten."""
        plain = cls(rewriter=rewriter, concept=concept, embed=embed, seed=seed)
        texts = [passage.text for passage in corpus]
        return replace(plain, known=dict(zip(texts, plain._rewrite(corpus), strict=True)))

    def protect(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the vectors of the rewritten texts."""
        del clean, rng, times
        others = {passage.text: passage for passage in passages if passage.text not in self.known}
        texts = {**self.known, **dict(zip(others, self._rewrite(list(others.values())), strict=True))}
        return self.embed([texts[passage.text] for passage in passages])

    def _rewrite(self, passages: Sequence[Passage]) -> list[str]:
        return self.rewriter.rewrite(passages, self.concept, np.random.default_rng(self.seed))


def make_veil(
    shape: NoiseShape,
    pairs: ContrastPairs,
    model: Fingerprint,
    *,
    mechanism: str = "mahalanobis",
    learner: str = "uniform",
    estimator: MissingAxesEstimator | None = None,
    facts: Mapping[str, float] | None = None,
) -> Veil:
    """Return a veil for a comparison, of a shape that was learned elsewhere or that is the same along every axis.

    Args:
        shape: Where the noise goes.
        pairs: Contrast pairs that its typical lengths are of.
        model: The model of the vectors.
        mechanism: Name of the mechanism.
        learner: Name of the shape learner.
        estimator: Estimates what the shape leaves out.
        facts: What the learner noticed.
    """
    unit = MECHANISMS.load(mechanism).for_shape(
        epsilon=1.0, variances=shape.variances, axes=shape.axes, center=shape.center
    )
    return Veil(
        shape=shape,
        mechanism=mechanism,
        fingerprint=model,
        typical=TypicalLengths.from_pairs(pairs, unit),
        estimator=estimator,
        provenance=Provenance(
            concept={},
            contrast="removal",
            pairs=len(pairs),
            embedder=None,
            learner={"name": learner},
            facts=dict(facts or {}),
            seed=0,
        ),
    )


def uniform_shape(dimensions: int) -> NoiseShape:
    """Return the shape of plain noise."""
    return NoiseShape(variances=np.ones(dimensions))
