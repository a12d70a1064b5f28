"""Boosted: gradient-boosted trees that say, word by word, which sensitive words are in the text behind a vector."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from vecveil.attacks.attack import Sample
from vecveil.attacks.trained_boosted import Clues, TrainedBoosted, staged
from vecveil.attacks.words import Flags, present
from vecveil.core.arrays import Matrix
from vecveil.core.checks import at_least, positive
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.core.progress import Progress, silent


@dataclass(frozen=True, kw_only=True)
class Boosted:
    """Gradient-boosted trees, an ensemble for each sensitive word: of a kind that no shape is learned against.

    A shape that is guided by a network may have found what that network is blind to; trees are blind to other things.
    They cut along one axis at a time, and the axes of an embedding tell little one by one. So they look at principal
    components, and at what a kernel ridge regression says of every word: they correct it, and turn it into
    probabilities. The number of rounds and the threshold are those that read the held-out texts best.

    Only the commonest words are learned. A rarer one is never claimed, has no confidence, and counts as not read; nor
    is a word learned that every text holds. Trees need many texts: with a few hundred, `mlc` reads more. Training takes
    seconds to a minute, and keeps no checkpoints.

    Attributes:
        most: Words that are learned at the most.
        components: Principal components that the trees see.
        landmarks: Training vectors that the regression compares others with.
        rounds: Trees for each word at the most.
        leaves: Leaves of a tree.
        learning_rate: Share of each tree's correction that is taken.
    """

    most: int = 30
    components: int = 64
    landmarks: int = 1000
    rounds: int = 100
    leaves: int = 4
    learning_rate: float = 0.1

    releases: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for name in ("most", "components", "landmarks", "rounds"):
            at_least(getattr(self, name), 1, name)
        at_least(self.leaves, 2, "leaves")
        positive(self.learning_rate, "learning_rate")

    def train(
        self,
        sample: Sample,
        held_out: Sample,
        rng: np.random.Generator,
        *,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> TrainedBoosted:
        """Return the trees, grown on protected vectors."""
        del folder, progress
        try:
            # Before the threads are limited, since that reaches only libraries that are loaded already.
            from sklearn.ensemble import HistGradientBoostingClassifier
            from threadpoolctl import threadpool_limits
        except ImportError:
            raise MissingExtraError("scikit-learn", "audit") from None
        vocabulary = self._vocabulary(sample)
        truth, held_truth = present(sample, vocabulary), present(held_out, vocabulary)
        if not held_truth.any():
            raise InvalidInputError(
                "boosted is stopped by what it reads of held-out texts, but no word that it learned is in one of them, "
                f"got {len(held_out)}"
            )
        # On one thread sums are added in the same order every time; a second would bring little with so few rows.
        with threadpool_limits(limits=1):
            clues, seen = Clues.fit(sample, truth, rng, components=self.components, landmarks=self.landmarks)
            trees = tuple(HistGradientBoostingClassifier(**self._growth()).fit(seen, flags) for flags in truth.T)
            held_seen = clues.of(held_out.vectors)
            chances = np.stack([np.stack(list(staged(classifier, held_seen))) for classifier in trees], axis=-1)
        best = int(np.argmin([_loss(after_round, held_truth) for after_round in chances]))
        return TrainedBoosted(
            clues=clues,
            trees=trees,
            rounds=best + 1,
            vocabulary=vocabulary,
            dimensions=sample.vectors.shape[1],
            threshold=_threshold(chances[best], held_truth),
        )

    def _vocabulary(self, sample: Sample) -> tuple[str, ...]:
        # A text that was released twice is still one text.
        texts = dict(zip(sample.texts, sample.tokens, strict=True))
        counts = Counter(token.word for tokens in texts.values() for token in tokens)
        telling = [word for word in sample.vocabulary if counts[word] < len(texts)]
        if not telling:
            raise InvalidInputError(
                f"boosted needs a sensitive word that some training texts hold and others don't, got {len(texts)} "
                "text(s) without one"
            )
        return tuple(sorted(sorted(telling, key=lambda word: -counts[word])[: self.most]))

    def _growth(self) -> dict[str, Any]:
        return {
            "max_iter": self.rounds,
            "max_leaf_nodes": self.leaves,
            "learning_rate": self.learning_rate,
            "max_bins": 64,
            # Few texts hold a rare word. Leaves with those alone would take steps so large that they never come back.
            "min_samples_leaf": 10,
            "l2_regularization": 5.0,
            "early_stopping": False,
            "random_state": 0,
        }


def _loss(chances: Matrix, truth: Flags) -> float:
    """Return the cross-entropy of all words together: one of them alone is in too few held-out texts to stop by."""
    sure = np.clip(np.where(truth, chances, 1 - chances), 1e-12, 1.0)
    return float(-np.log(sure).mean())


def _threshold(chances: Matrix, truth: Flags) -> float:
    """Return the probability from which claims have the highest F1 over all words."""
    order = np.argsort(-chances, axis=None)
    falling = chances.ravel()[order]
    hits = np.cumsum(truth.ravel()[order])
    scores = 2 * hits / (np.arange(1, hits.size + 1) + hits[-1])
    # Claims of the same probability are made together.
    last = np.append(falling[:-1] > falling[1:], True)
    return float(falling[np.where(last, scores, 0.0).argmax()])
