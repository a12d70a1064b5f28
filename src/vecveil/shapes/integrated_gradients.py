"""SPARSE-WB: noise in proportion to what each dimension tells a white-box attack."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from vecveil.core.checks import at_least, fraction, one_of
from vecveil.core.errors import MissingExtraError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.shapes.attack_gradients import attribute_words, read_held_out
from vecveil.shapes.erasure import corpus_center
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.learner import FittedShape, ShapeLearner, check_attack
from vecveil.shapes.shape import NoiseShape, Normalization, variances_from_weights

Baseline = Literal["mean", "zero"]

HARDLY_READS = 0.1
"""An attack that reads less than this share of held-out words has gradients that say little of the concept."""


@dataclass(frozen=True, kw_only=True)
class IntegratedGradients(ShapeLearner):
    """Weigh each dimension by its share in what a trained attack makes of the sensitive words.

    For each sensitive word of each text, Integrated Gradients divides the attack's logit of that word, less its logit
    at a baseline, among the dimensions of the vector. The weight of a dimension is the mean size of its shares. The
    paper does not say what the baseline is, whether logits or probabilities are divided, nor how shares become one
    shape; that is as here. It takes an attack on sentences where this takes one on words.

    Attributes:
        attack: Name of the attack to look into. Its trained form must have gradients, as that of `mlc` has.
        attack_settings: Settings of that attack, over its defaults.
        baseline: Where the path to a vector starts: at the `mean` of the corpus, or, as is customary for pictures, at
            `zero`. Seen from zero, a dimension that is nearly the same in all texts can get most of the noise.
        steps: Points on the path at which gradients are taken.
        normalize: How weights become variances.
        floor: Smallest variance (the paper's δ).
    """

    attack: str = "mlc"
    attack_settings: Mapping[str, Any] = field(default_factory=dict)
    baseline: Baseline = "mean"
    steps: int = 50
    normalize: Normalization = "trace"
    floor: float = 0.1

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {"floor": 1e-6}}

    def __post_init__(self) -> None:
        check_attack(self)
        one_of(self.baseline, get_args(Baseline), "baseline")
        at_least(self.steps, 1, "steps")
        one_of(self.normalize, get_args(Normalization), "normalization")
        fraction(self.floor, "floor")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with how well the attack reads and how far two halves of the texts agree on it."""
        if find_spec("torch") is None:
            raise MissingExtraError("torch", "local")
        corpus = evidence.corpus
        attacker = evidence.attacker(self.attack, self.attack_settings, rng)
        attack = attacker.train(corpus.vectors, rng, progress=progress)
        recall, _, asked = read_held_out(corpus, attacker, attack, corpus.vectors)
        if recall < HARDLY_READS:
            message = (
                f"the attack {self.attack!r} reads {recall:.0%} of {asked} sensitive words in held-out texts: its "
                "gradients say little about the concept; more texts may help"
            )
            warnings.warn(message, VecveilWarning, stacklevel=2)
        center = corpus_center(corpus)
        origin = center if self.baseline == "mean" else np.zeros_like(center)
        found = attribute_words(corpus, attack, origin, rng, steps=self.steps, progress=progress)
        facts = {
            "token_instances": float(found.instances),
            "top_tenth_share": found.top_tenth_share,
            "half_correlation": found.half_correlation,
            "completeness_gap": found.gap,
            "held_out_recall": recall,
            "held_out_tokens": float(asked),
        }
        variances = variances_from_weights(found.weights, normalize=self.normalize, floor=self.floor)
        return FittedShape(shape=NoiseShape(variances=variances), facts=facts)
