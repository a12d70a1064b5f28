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
from vecveil.substitutions.plain import Keep
from vecveil.veil import Veil
from vecveil.veil.blanks import Blank, BlankReadings, compare_blanks, read_blanks
from vecveil.veil.budget import TypicalLengths
from vecveil.veil.provenance import Provenance
from vecveil.veil.release import Release
from vecveil.veil.words import WordProtection

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

    def read_blanks(self, blanks: Sequence[Blank], embed: Embed, rng: np.random.Generator) -> BlankReadings | None:
        """Return what one release of each text tells of its blank at most; None where no one has worked that out."""
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

    def read_blanks(self, blanks: Sequence[Blank], embed: Embed, rng: np.random.Generator) -> BlankReadings:
        """Return which candidates have the very vector that was stored."""
        del rng
        return compare_blanks(embed, blanks, [[one.text for one in blank.candidates] for blank in blanks])


@dataclass(frozen=True, kw_only=True, eq=False)
class Veiled:
    """A veil at one budget, through the same release as everywhere; only its randomness is seeded, to be repeatable.

    Attributes:
        veil: What protects.
        epsilon: Literal budget.
        grid: What releases are rounded to.
        keyed: Whether the noise of a record comes from a key, so that releasing it again tells nothing new.
        embed: The embedder, which reads texts after their private words were replaced; None to protect vectors that
            come without their texts.
        concept: Finds those words, where the veil does not keep it, or where what it finds is memoized.
        known: Texts as the model reads them, where that is the same each time.
        groups: What each text belongs to: with a key, a private value has one outcome in all texts of a group.
    """

    veil: Veil
    epsilon: float
    grid: str = "float32"
    keyed: bool = False
    embed: Embed | None = None
    concept: Concept | None = None
    known: Mapping[str, str] = field(default_factory=dict, repr=False)
    groups: Mapping[str, str] = field(default_factory=dict, repr=False)
    noisy: bool = True

    @property
    def axes(self) -> Matrix | None:
        """The axes of the shape."""
        return self.veil.shape.axes

    def protect(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the mean of releases with fresh noise, or of those of one key, which is drawn at each call."""
        if not len(clean):
            return clean
        release = self._release(rng)
        total = np.zeros(clean.shape)
        for _ in range(times):
            vectors = clean
            if self.embed is not None and release.words is not None:
                vectors = self.embed(self._rewrite(release, passages))
            total += release.grid.values(release.protect_vectors(vectors))
        return np.asarray(total / times, dtype=clean.dtype)

    def read_blanks(self, blanks: Sequence[Blank], embed: Embed, rng: np.random.Generator) -> BlankReadings:
        """Return the posterior of each candidate, by Bayes."""
        return read_blanks(self._release(rng), embed, blanks, texts=self.embed is not None)

    def _rewrite(self, release: Release, passages: Sequence[Passage]) -> list[str]:
        known = [self.known.get(passage.text) for passage in passages]
        if None not in known:
            return [text for text in known if text is not None]
        grouped = self.keyed and self.groups
        groups = [self.groups.get(one.text, one.text) for one in passages] if grouped else None
        return release.rewrite(passages, groups=groups).texts

    def _release(self, rng: np.random.Generator) -> Release:
        key, seeded = (Key(rng.bytes(32)), None) if self.keyed else (None, rng)
        return self.veil.release(
            epsilon=self.epsilon, grid=self.grid, key=key, rng=seeded, concept=self.concept, ledger="none"
        )


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

    def read_blanks(self, blanks: Sequence[Blank], embed: Embed, rng: np.random.Generator) -> BlankReadings | None:
        """Return which candidates, rewritten, have the vector that was stored; None where rewriting is random."""
        del rng
        if not self.rewriter.repeatable:
            return None
        sizes = np.cumsum([len(blank.candidates) for blank in blanks])[:-1]
        rewritten = np.array(self._rewrite([one for blank in blanks for one in blank.candidates]), dtype=object)
        return compare_blanks(embed, blanks, [part.tolist() for part in np.split(rewritten, sizes)])

    def _rewrite(self, passages: Sequence[Passage]) -> list[str]:
        return self.rewriter.rewrite(passages, self.concept, np.random.default_rng(self.seed))


def make_veil(
    shape: NoiseShape,
    pairs: ContrastPairs,
    model: Fingerprint,
    *,
    mechanism: str = "mahalanobis",
    learner: str = "uniform",
    facts: Mapping[str, float] | None = None,
    words: WordProtection | None = None,
) -> Veil:
    """Return a veil for a comparison, of a shape that was learned elsewhere or that is the same along every axis.

    Args:
        shape: Where the noise goes.
        pairs: Contrast pairs that its typical lengths are of.
        model: The model of the vectors.
        mechanism: Name of the mechanism.
        learner: Name of the shape learner.
        facts: What the learner noticed.
        words: What becomes of private words; they stay where None.
    """
    unit = MECHANISMS.load(mechanism).for_shape(
        epsilon=1.0, variances=shape.variances, axes=shape.axes, center=shape.center
    )
    return Veil(
        shape=shape,
        mechanism=mechanism,
        fingerprint=model,
        typical=TypicalLengths.from_pairs(pairs, unit, normalized=model.normalized),
        substitution=Keep() if words is None else words.substitution,
        concept=None if words is None else words.concept,
        provenance=Provenance(
            concept={} if words is None or words.concept is None else words.concept.summary(),
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
