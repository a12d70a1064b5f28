"""The simplest adaptive attack: a classifier trained on protected vectors to find the texts with the concept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, embeddings, fraction
from vecveil.core.errors import InvalidInputError, MissingExtraError


@dataclass(frozen=True, kw_only=True)
class ProbeScore:
    """How well a probe finds the concept in vectors that it was not trained on.

    Attributes:
        auc: Chance that a vector with the concept scores above one without it; 0.5 is blind, 1 is sight.
        accuracy: Share of vectors told apart rightly, each class counting half; 0.5 is blind.
        tested: Number of vectors it was tested on.
    """

    auc: float
    accuracy: float
    tested: int


@dataclass(frozen=True, kw_only=True)
class ConceptProbe:
    """An MLP on standardised vectors, trained with early stopping so that it is neither under- nor over-trained.

    Attributes:
        hidden: Widths of the hidden layers.
        epochs: Most passes over the training vectors.
        held_out: Share of the groups that the score is measured on.
        seed: Of the split, the initial weights and the batches.
    """

    hidden: tuple[int, ...] = (256, 128)
    epochs: int = 150
    held_out: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        at_least(self.epochs, 1, "epochs")
        fraction(self.held_out, "held_out")

    def score(
        self, vectors: Embeddings, present: NDArray[np.bool_], groups: NDArray[np.integer[Any]] | None = None
    ) -> ProbeScore:
        """Train on one part of `vectors` and measure on the rest.

        Args:
            vectors: Protected vectors: the attacker adapts to the protection by training on what it lets out.
            present: For each, whether its text holds the concept.
            groups: Vectors of one group (the two sides of a contrast pair) stay on one side of the split.
        """
        try:
            from sklearn.metrics import balanced_accuracy_score, roc_auc_score
            from threadpoolctl import threadpool_limits
        except ImportError:
            raise MissingExtraError("scikit-learn", "audit") from None
        checked = embeddings(vectors)
        if present.shape != (checked.shape[0],):
            raise InvalidInputError(f"present must be one truth value per vector, got shape {present.shape}")
        test = self._test_rows(np.arange(present.size) if groups is None else groups)
        for part in (present[test], present[~test]):
            if part.all() or not part.any():
                raise InvalidInputError("a probe needs vectors with and without the concept on both sides of its split")
        # The matrices are small: threads would cost more than they bring, many times more on a busy machine.
        with threadpool_limits(limits=1):
            probe = self._classifier().fit(checked[~test], present[~test])
        chances = probe.predict_proba(checked[test])[:, 1]
        return ProbeScore(
            auc=float(roc_auc_score(present[test], chances)),
            accuracy=float(balanced_accuracy_score(present[test], chances > 0.5)),
            tested=int(test.sum()),
        )

    def _test_rows(self, groups: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        names = np.unique(groups)
        chosen = np.random.default_rng(self.seed).permutation(names)[: round(self.held_out * names.size)]
        return np.isin(groups, chosen)

    def _classifier(self) -> Any:
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        network = MLPClassifier(
            self.hidden,
            alpha=1e-3,
            batch_size=64,
            early_stopping=True,
            max_iter=self.epochs,
            n_iter_no_change=12,
            random_state=self.seed,
            validation_fraction=0.15,
        )
        return make_pipeline(StandardScaler(), network)
