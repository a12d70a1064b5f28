"""From a corpus with its contrast pairs to a shape, and to what may be done to a release afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vecveil.attacks import build_attack
from vecveil.core.progress import Progress, silent
from vecveil.shapes import AdversarialLearner, ContrastPairs, CorpusLearner, NoiseShape, ShapeLearner
from vecveil.shapes.filling import Filling, helpful_filling
from vecveil.veil.attacker import CorpusAttacker
from vecveil.veil.labelled import LabelledTexts


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """A learned shape.

    Attributes:
        shape: Where the noise goes, and what is not released.
        filling: Estimates what is not released; None where nothing is to be filled, or search is no better for it.
        facts: Numbers worth printing.
    """

    shape: NoiseShape
    filling: Filling | None
    facts: Mapping[str, float]


def reads_corpus(learner: ShapeLearner) -> bool:
    """Return whether a learner needs more than contrast pairs."""
    return isinstance(learner, AdversarialLearner | CorpusLearner)


def fit(
    learner: ShapeLearner,
    pairs: ContrastPairs,
    corpus: LabelledTexts | None,
    rng: np.random.Generator,
    *,
    fill: bool = True,
    progress: Progress = silent,
) -> Fitted:
    """Return what `learner` makes of a corpus.

    Args:
        learner: The shape learner.
        pairs: Vectors of texts with the concept and of the same texts without it.
        corpus: All texts; None for a learner that needs pairs alone.
        rng: Of the learner.
        fill: Whether to look for a filling.
        progress: Told how far the work is.
    """
    if isinstance(learner, AdversarialLearner) and corpus is not None:
        attacker = CorpusAttacker.of(build_attack(learner.attack, learner.attack_settings), corpus, rng)
        found = learner.fit(pairs, rng, attacker=attacker, progress=progress)
    elif isinstance(learner, CorpusLearner):
        found = learner.fit(pairs, rng, corpus=corpus, progress=progress)
    else:
        found = learner.fit(pairs, rng, progress=progress)
    filling = helpful_filling(found.shape, corpus, pairs) if fill and corpus is not None else None
    return Fitted(shape=found.shape, filling=filling, facts=found.facts)
