"""Defenses by the names of the paper's tables, and ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vecveil.audit.defenses import Defense, Rewritten, Undefended, Veiled, make_veil, uniform_shape
from vecveil.audit.frontier import Workbench
from vecveil.audit.frontier.contender import Contender
from vecveil.concepts.rewriting import REWRITERS, build_rewriter
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.veil.budget import Budget

SHAPES: Mapping[str, str] = {
    "sparse": "hard-concrete:paper",
    "sparse-working": "hard-concrete",
    "sparse-wb": "integrated-gradients:paper",
    "vecveil": "canonical",
}
"""Defenses that learn where noise goes, and the shapes that they learn."""

TITLES: Mapping[str, str] = {
    "none": "no defense",
    "laplace": "LapMech",
    "purkayastha": "PurMech",
    "sparse": "SPARSE",
    "sparse-working": "SPARSE, mask that closes",
    "sparse-wb": "SPARSE-WB",
    "vecveil": "vecveil's directions, words kept",
    "remove-pii": "RemovePII",
    "random-replacement": "Random-Replace",
    "semantic-replacement": "Semantic-Replace",
}
"""How tables name them."""


@dataclass(frozen=True, kw_only=True)
class DefenseName:
    """A defense as an experiment asks for it.

    Attributes:
        name: One of `TITLES`.
        settings: Of the shape learner, over what the name stands for.
        budget: What it may spend; None for a defense that adds no noise.
    """

    name: str
    settings: tuple[tuple[str, str | float], ...] = ()
    budget: Budget | None = None

    def __post_init__(self) -> None:
        one_of(self.name, TITLES, "defense")
        if (self.budget is None) != (self.name == "none" or self.name in REWRITERS.names()):
            raise InvalidInputError(f"noise needs a budget, and nothing else takes one, got {self.name!r}")

    @property
    def title(self) -> str:
        """How tables name it, with the scale of ε where that is not the paper's."""
        literal = self.budget is not None and self.budget.scale == "literal"
        return TITLES[self.name] + (", literal ε" if literal else "")

    def build(self, bench: Workbench, seed: int) -> Defense:
        """Return the defense on a corpus, learned in the split of that seed where it learns."""
        if self.name in REWRITERS.names():
            rewriter = build_rewriter(self.name)
            kept = bench.redacted
            return Rewritten.over_corpus(bench.corpus.passages, rewriter, kept.concept, kept.embed, seed=seed)
        if self.budget is None:
            return Undefended()
        if self.name not in SHAPES:
            corpus, model = bench.corpus, bench.embed.embedder.fingerprint
            veil = make_veil(uniform_shape(model.dimensions), corpus.pairs, model, mechanism=self.name)
        else:
            veil = bench.learn(Contender(SHAPES[self.name], self.settings), None, seed)
        return Veiled(veil=veil, epsilon=veil.epsilon_at(self.budget))

    def key(self) -> dict[str, object]:
        """Return what makes two defenses the same."""
        return {
            "shape": SHAPES.get(self.name, self.name),
            "settings": [list(one) for one in self.settings],
            "budget": "" if self.budget is None else self.budget.asked,
        }
