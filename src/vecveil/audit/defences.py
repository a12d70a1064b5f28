"""What is compared: nothing, noise of several kinds, and texts that were rewritten before they were embedded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol, TypeAlias

import numpy as np

from vecveil.accounting import Dials
from vecveil.audit.budgets import Budget
from vecveil.audit.results import Setting
from vecveil.concepts import Concept, Passage
from vecveil.concepts.rewriting import Rewriter
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.shapes import ContrastPairs, NoiseShape
from vecveil.shapes.filling import Filling
from vecveil.veil import Veil
from vecveil.veil.noise import KeyedNoise
from vecveil.veil.records import text_contents

Embed: TypeAlias = Callable[[Sequence[str]], Embeddings]


class Defence(Protocol):
    """Lets vectors out."""

    @property
    def noisy(self) -> bool:
        """Whether two releases of one record differ, so that an attacker gains by denoising and by averaging."""
        ...

    @property
    def axes(self) -> Matrix | None:
        """The public axes along which the noise is independent; None for the coordinate axes."""
        ...

    def release(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return what is stored in place of the vectors `clean` of `passages`; the mean of it over several times."""
        ...


@dataclass(frozen=True, kw_only=True)
class Undefended:
    """The positive control: vectors as the embedder makes them."""

    noisy: bool = False
    axes: Matrix | None = None

    def release(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the vectors themselves."""
        del passages, rng, times
        return clean


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """A mechanism at one budget. The noise of an audit is seeded: it measures, and is never released.

    Attributes:
        mechanism: What adds the noise.
        axes: The public axes along which the noise is independent.
        filling: What the veil does to a release before it is stored.
        keyed: Whether the noise of a text comes from a key, so that releasing it again tells nothing new.
    """

    mechanism: Mechanism
    axes: Matrix | None = None
    filling: Filling | None = None
    keyed: bool = False
    noisy: bool = True

    def release(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the vectors with noise: fresh each time, or that of one key, drawn at each call."""
        key = Key(rng.bytes(32)) if self.keyed else None
        total = sum(self._once(passages, clean, rng, key) for _ in range(times))
        mean = np.asarray(total / times, dtype=clean.dtype)
        return mean if self.filling is None else self.filling(mean).astype(clean.dtype)

    def _once(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, key: Key | None
    ) -> Embeddings:
        if key is None:
            return self.mechanism.perturb(clean, rng)
        names = text_contents([passage.text for passage in passages])
        noise = KeyedNoise(key=key, veil="", epsilon=self.mechanism.epsilon)
        return self.mechanism.release(clean, noise.draws(self.mechanism, names))


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
    def over(
        cls,
        corpus: Sequence[Passage],
        rewriter: Rewriter,
        concept: Concept,
        embed: Embed,
        seed: int,
    ) -> Rewritten:
        """Return the baseline with all of a corpus rewritten."""
        plain = cls(rewriter=rewriter, concept=concept, embed=embed, seed=seed)
        texts = [passage.text for passage in corpus]
        return replace(plain, known=dict(zip(texts, plain._rewritten(corpus), strict=True)))

    def release(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the vectors of the rewritten texts."""
        del clean, rng, times
        others = {passage.text: passage for passage in passages if passage.text not in self.known}
        texts = {**self.known, **dict(zip(others, self._rewritten(list(others.values())), strict=True))}
        return self.embed([texts[passage.text] for passage in passages])

    def _rewritten(self, passages: Sequence[Passage]) -> list[str]:
        return self.rewriter.rewrite(passages, self.concept, np.random.default_rng(self.seed))


def noise_defence(
    name: str, budget: Budget, *, veil: Veil, pairs: ContrastPairs, seed: int, keyed: bool = False
) -> tuple[Setting, Defence]:
    """Return the veil (`name` is "veil") or a plain mechanism at one budget, and how results name it.

    Args:
        name: "veil", or the name of a mechanism that adds the same noise along every axis.
        budget: What it may spend.
        veil: Says how long an embedding is, and is one of the defences itself.
        pairs: The contrast pairs of the audited texts; the median of them is what the third dial is about.
        seed: Of the noise.
        keyed: Whether the noise of a text comes from a key.
    """
    mechanism = mechanism_of(name, budget, veil)
    # A median is the exact value of one record, and results may be shown to others: three digits serve as well.
    typical_pair = float(f"{np.median(mechanism.distance(pairs.with_concept, pairs.without_concept)):.3g}")
    dials = Dials(
        epsilon=mechanism.epsilon,
        distance=mechanism.guarantee().metric,
        noise_ratio=mechanism.noise_ratio(veil.typical.signal),
        pair_loss=mechanism.epsilon * typical_pair,
    )
    label = f"veil, {veil.provenance.learner['name']}" if name == "veil" else name
    setting = Setting(defence=name, label=label, asked=budget.asked, dials=dials, seed=seed)
    if name != "veil":
        return setting, Noise(mechanism=mechanism, keyed=keyed)
    return setting, Noise(mechanism=mechanism, axes=veil.shape.axes, filling=veil.filling, keyed=keyed)


@cache
def mechanism_of(name: str, budget: Budget, veil: Veil) -> Mechanism:
    """Return the mechanism of the veil (`name` is "veil") or a plain one at a budget, or raise if it can't have it.

    It is found once: the epsilon for a noise ratio is searched for, and every seed asks for the same.
    """
    uniform = NoiseShape(variances=np.ones(veil.shape.dimensions))
    kind = MECHANISMS.load(veil.mechanism if name == "veil" else name)
    mechanism = budget.mechanism(kind, veil.shape if name == "veil" else uniform, signal=veil.typical.signal)
    if not np.isfinite(mechanism.noise_ratio(veil.typical.signal)):
        raise InvalidInputError(f"{budget.asked} is too little for {name}: nothing is left of a vector")
    if name == "veil":
        # The veil itself refuses a budget at which some axis would be released in clear.
        veil.guarantee(epsilon=mechanism.epsilon)
    return mechanism
