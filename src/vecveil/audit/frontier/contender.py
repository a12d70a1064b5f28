"""Contenders on the frontier: a substitution, a shape learner, its directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from vecveil.accounting import GaussianLoss
from vecveil.audit.defenses import Embed, Veiled, make_veil
from vecveil.core.errors import InvalidInputError
from vecveil.core.specs import Spec, parse_spec
from vecveil.embedders import Fingerprint
from vecveil.shapes import SHAPE_LEARNERS, Evidence, ShapeLearner, build_learner
from vecveil.shapes.erasure import most_directions, release_center
from vecveil.substitutions import Substitution, build_substitution
from vecveil.veil import Veil
from vecveil.veil.words import WordProtection

COUNTS = (1, 2, 4, 8, 12, 20, 32, 48, 64, 96, 128, 192, 256, 384)
"""Numbers of directions that are tried."""


@dataclass(frozen=True)
class Contender:
    """A defense as a user names it.

    Attributes:
        spec: `SHAPE[:PRESET][,setting=value…]`; `uniform` is plain Laplace noise. `substitution=remove` says what
            becomes of private words before the model reads them, and `word_epsilon=4` how much each may tell where
            they are randomized; they stay where nothing is said.
        settings: Further settings of the shape, over those of the spec.
        given: What becomes of private words, in place of what the spec says.
    """

    spec: str
    settings: tuple[tuple[str, Any], ...] = ()
    given: Substitution | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        # A misspelled name or setting should not come to light after an hour of embedding.
        if not self.learner or not self.substitution:
            raise InvalidInputError(f"{self.spec!r} names no shape")

    @cached_property
    def learner(self) -> ShapeLearner:
        """The shape learner with its settings."""
        parsed = self._parsed
        own = {name: value for name, value in parsed.settings.items() if name not in {"substitution", "word_epsilon"}}
        return build_learner(parsed.name, preset=parsed.target, settings={**own, **dict(self.settings)})

    @cached_property
    def substitution(self) -> Substitution:
        """What becomes of private words, before it is fitted to a corpus."""
        if self.given is not None:
            return self.given
        given = self._parsed.settings
        settings = {"epsilon": given["word_epsilon"]} if "word_epsilon" in given else {}
        return build_substitution(str(given.get("substitution", "keep")), settings)

    @property
    def is_family(self) -> bool:
        """Whether the number of directions that are left out is free."""
        settings: Any = self.learner
        names = {one.name for one in fields(settings)}
        return {"directions", "keep"} <= names and settings.directions == 0

    def counts(self, dimensions: int) -> tuple[int | None, ...]:
        """Return the numbers of directions to try, the fewest first; None where there is nothing to choose."""
        if not self.is_family:
            return (None,)
        return tuple(number for number in COUNTS if number <= most_directions(dimensions))

    def learn(
        self, evidence: Evidence, model: Fingerprint, directions: int | None, seed: int, words: WordProtection
    ) -> Veil:
        """Return the veil for one number of directions; as the settings say where None."""
        settings: Any = self.learner
        learner: ShapeLearner = settings if directions is None else replace(settings, directions=directions)
        rng = np.random.default_rng(seed)
        fitted = learner.fit(evidence, rng)
        # As `learn` does on private texts, with noise that can be repeated.
        shape = release_center(fitted.shape, evidence.corpus, GaussianLoss(), rng)
        # On the uniform shape the default mechanism is Laplace noise.
        return make_veil(shape, evidence.pairs, model, learner=self._parsed.name, facts=fitted.facts, words=words)

    @cached_property
    def _parsed(self) -> Spec:
        return parse_spec(self.spec, SHAPE_LEARNERS.kind)


def at_noise(
    veil: Veil, noise_ratio: float, embed: Embed | None = None, known: Mapping[str, str] | None = None
) -> Veiled:
    """Return the defense that a veil is with noise of that length.

    Args:
        veil: The veil.
        noise_ratio: Length of the noise over that of an embedding.
        embed: Reads texts whose words it replaces; None for vectors that come without their texts.
        known: Texts as the model reads them, where that is the same each time.
    """
    return Veiled(veil=veil, epsilon=veil.epsilon_for(noise_ratio=noise_ratio), embed=embed, known=known or {})
