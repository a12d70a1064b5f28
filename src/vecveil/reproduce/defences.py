"""The paper's defences by the names of its tables, and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vecveil.audit.budgets import Budget
from vecveil.audit.defences import Defence, Noise, Rewritten, Undefended
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.contender import MECHANISM, Contender
from vecveil.concepts.rewriting import REWRITERS, build_rewriter
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import NoiseShape

SHAPES: Mapping[str, str] = {
    "sparse": "hard-concrete:paper",
    "sparse-working": "hard-concrete",
    "sparse-wb": "integrated-gradients:paper",
    "vecveil": "canonical",
}
"""Defences that learn where noise goes, and the shapes that they learn."""

TITLES: Mapping[str, str] = {
    "none": "no defence",
    "laplace": "LapMech",
    "purkayastha": "PurMech",
    "sparse": "SPARSE",
    "sparse-working": "SPARSE, mask that closes",
    "sparse-wb": "SPARSE-WB",
    "vecveil": "vecveil's default",
    "remove-pii": "RemovePII",
    "random-replacement": "Random-Replace",
    "semantic-replacement": "Semantic-Replace",
}
"""How tables name them."""


@dataclass(frozen=True, kw_only=True)
class DefenceName:
    """A defence as an experiment asks for it.

    Attributes:
        name: One of `TITLES`.
        settings: Of the shape learner, over what the name stands for.
        budget: What it may spend; None for a defence that adds no noise.
    """

    name: str
    settings: tuple[tuple[str, str | float], ...] = ()
    budget: Budget | None = None

    def __post_init__(self) -> None:
        one_of(self.name, TITLES, "defence")
        if (self.budget is None) != (self.name == "none" or self.name in REWRITERS.names()):
            raise InvalidInputError(f"noise needs a budget, and nothing else takes one, got {self.name!r}")

    @property
    def title(self) -> str:
        """How tables name it, with the scale of ε where that is not the paper's."""
        literal = self.budget is not None and self.budget.scale == "literal"
        return TITLES[self.name] + (", literal ε" if literal else "")

    def build(self, bench: Bench, seed: int) -> Defence:
        """Return the defence on a corpus, learned in the split of that seed where it learns."""
        if self.name in REWRITERS.names():
            rewriter = build_rewriter(self.name)
            kept = bench.redacted
            return Rewritten.over(bench.corpus.passages, rewriter, kept.concept, kept.embed, seed=seed)
        if self.budget is None:
            return Undefended()
        if self.name not in SHAPES:
            even = NoiseShape(variances=np.ones(bench.corpus.clean.shape[1]))
            return Noise(mechanism=self.budget.mechanism(MECHANISMS.load(self.name), even, signal=bench.signal))
        fitted = bench.fitted(Contender(SHAPES[self.name], self.settings), None, seed)
        mechanism = self.budget.mechanism(MECHANISMS.load(MECHANISM), fitted.shape, signal=bench.signal)
        return Noise(mechanism=mechanism, axes=fitted.shape.axes, filling=fitted.filling)

    def key(self) -> dict[str, object]:
        """Return what makes two defences the same."""
        return {
            "shape": SHAPES.get(self.name, self.name),
            "settings": [list(one) for one in self.settings],
            "budget": "" if self.budget is None else self.budget.asked,
        }
