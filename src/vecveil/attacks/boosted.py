"""Boosted: gradient-boosted trees for each sensitive word behind a vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from vecveil.attacks.attack import Attack, Flags, Sample, TrainingRun, WordClassifier
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import at_least, embeddings, positive
from vecveil.core.errors import InvalidInputError, needs_extra

FOLDS = 5
"""Parts of the training texts; a regression on the others predicts each of them."""

RIDGE, LEAST_RIDGE = 0.1, 1e-12
"""Penalty of the regression as a share of the mean variance of its inputs, and its smallest value."""


@dataclass(frozen=True, kw_only=True)
class Boosted(Attack):
    """Gradient-boosted trees, an ensemble for each sensitive word. No shape is learned against an attack of this kind.

    A shape that is guided by a network may hide only what a network sees; trees see other things. They cut along one
    axis at a time, and single axes of an embedding tell little. So they see principal components and the output of a
    kernel ridge regression for every word. Held-out texts choose the number of rounds and the threshold.

    Only the most frequent words are learned, and none that every text holds. Other words are never claimed. Trees need
    many texts: with a few hundred, `mlc` reads more. Training takes seconds to a minute, and keeps no checkpoints.

    Attributes:
        most: Most words that are learned.
        components: Principal components that the trees see.
        landmarks: Training vectors that the regression compares others with.
        rounds: Most trees for each word.
        leaves: Leaves of a tree.
        learning_rate: Share of each tree's correction that is taken.
    """

    most: int = 30
    components: int = 64
    landmarks: int = 1000
    rounds: int = 100
    leaves: int = 4
    learning_rate: float = 0.1

    def __post_init__(self) -> None:
        for name in ("most", "components", "landmarks", "rounds"):
            at_least(getattr(self, name), 1, name)
        at_least(self.leaves, 2, "leaves")
        positive(self.learning_rate, "learning_rate")

    def train(self, run: TrainingRun) -> TrainedBoosted:
        """Return the trees, trained on protected vectors."""
        with needs_extra("scikit-learn", "audit"):
            # Before the threads are limited, since that reaches only libraries that are loaded already.
            from sklearn.ensemble import HistGradientBoostingClassifier
            from sklearn.metrics import log_loss
            from threadpoolctl import threadpool_limits
        vocabulary = self._choose_vocabulary(run.sample)
        truth, held_truth = run.mark_words(vocabulary, "boosted")
        # On one thread sums are added in the same order every time; a second would bring little with so few rows.
        with threadpool_limits(limits=1):
            features, seen = TreeFeatures.fit(
                run.sample, truth, run.rng, components=self.components, landmarks=self.landmarks
            )
            trees = tuple(HistGradientBoostingClassifier(**self._tree_settings()).fit(seen, flags) for flags in truth.T)
            held_seen = features.transform(run.held_out.vectors)
            after_rounds = np.stack([np.stack(list(_predict_rounds(one, held_seen))) for one in trees], axis=-1)
        # All words together: one of them alone is in too few held-out texts to stop by.
        losses = [log_loss(held_truth.ravel(), one.ravel(), labels=[False, True]) for one in after_rounds]
        best = int(np.argmin(losses))
        return TrainedBoosted(
            features=features,
            trees=trees,
            rounds=best + 1,
            vocabulary=vocabulary,
            dimensions=run.sample.vectors.shape[1],
            threshold=_best_threshold(after_rounds[best], held_truth),
        )

    def _choose_vocabulary(self, sample: Sample) -> tuple[str, ...]:
        counts, texts = sample.count_words(), len(set(sample.texts))
        telling = [word for word in sample.vocabulary if counts[word] < texts]
        if not telling:
            raise InvalidInputError(
                f"boosted needs a sensitive word that some training texts hold and others don't, got {texts} "
                "text(s) without one"
            )
        return tuple(sorted(sorted(telling, key=lambda word: -counts[word])[: self.most]))

    def _tree_settings(self) -> dict[str, Any]:
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


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeFeatures:
    """The inputs of the trees: principal components, and a regression of each word on the nearness to landmarks."""

    axes: Matrix
    kernel: Any
    regression: Any

    def transform(self, vectors: Embeddings) -> Matrix:
        """Return the features of each vector."""
        wide = np.asarray(vectors, dtype=np.float64)
        predicted = self.regression.predict(self.kernel.transform(wide))
        return np.hstack([wide @ self.axes, predicted.reshape(len(wide), -1)])

    @classmethod
    def fit(
        cls, sample: Sample, truth: Flags, rng: np.random.Generator, *, components: int, landmarks: int
    ) -> tuple[TreeFeatures, Matrix]:
        """Return the features, and their values for the training vectors.

        A training vector is predicted by a regression on other texts: one that had seen the text would be surer of it
        than of any new one. Releases of one text stay in one fold.
        """
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import GroupKFold, cross_val_predict
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        rows, dimensions = sample.vectors.shape
        wide = np.asarray(sample.vectors, dtype=np.float64)
        nystroem = Nystroem(
            gamma=1 / dimensions, n_components=min(landmarks, rows), random_state=int(rng.integers(2**31))
        )
        kernel = make_pipeline(StandardScaler(), nystroem).fit(wide)
        near = kernel.transform(wide)
        regression = Ridge(alpha=max(RIDGE * rows * float(near.var(axis=0).mean()), LEAST_RIDGE))
        _, texts = np.unique(sample.texts, return_inverse=True)
        folds = GroupKFold(min(FOLDS, int(texts.max()) + 1))
        predicted = cross_val_predict(regression, near, truth.astype(np.float64), groups=texts, cv=folds)
        centered = wide - wide.mean(axis=0)
        axes = np.linalg.eigh(centered.T @ centered).eigenvectors[:, ::-1][:, :components]
        features = cls(axes=axes, kernel=kernel, regression=regression.fit(near, truth.astype(np.float64)))
        return features, np.hstack([wide @ axes, predicted.reshape(rows, -1)])


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedBoosted(WordClassifier):
    """Trained trees: a boosted classifier for each word, of which the first `rounds` trees count."""

    features: TreeFeatures
    trees: tuple[Any, ...]
    rounds: int

    def probabilities(self, vectors: Embeddings) -> Matrix:
        """Return, for each vector, the probability of each word."""
        from threadpoolctl import threadpool_limits

        released = embeddings(vectors, dimensions=self.dimensions)
        if not len(released):
            return np.zeros((0, len(self.vocabulary)))
        with threadpool_limits(limits=1):
            seen = self.features.transform(released)
            last = [next(islice(_predict_rounds(one, seen), self.rounds - 1, None)) for one in self.trees]
        return np.stack(last, axis=1)


def _predict_rounds(classifier: Any, features: Matrix) -> Iterator[Vector]:
    """Yield the probability of a classifier's word for each row: after one round, after two, and so on."""
    return (probabilities[:, 1] for probabilities in classifier.staged_predict_proba(features))


def _best_threshold(probabilities: Matrix, truth: Flags) -> float:
    """Return the probability from which claims have the highest F1 over all words."""
    from sklearn.metrics import precision_recall_curve

    precision, recall, thresholds = precision_recall_curve(truth.ravel(), probabilities.ravel())
    scores = precision * recall / np.maximum(precision + recall, 1e-12)
    return float(thresholds[scores[:-1].argmax()])
