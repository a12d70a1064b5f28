"""Concept probes: classifiers that find the concept in protected vectors."""

import math
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.checks import at_least, embeddings, fraction, one_of, widths
from vecveil.core.errors import InvalidInputError, needs_extra

ProbeKind: TypeAlias = Literal["linear", "mlp"]

FEWEST_VECTORS = 4
"""Fewest training vectors with the concept, and without it."""

VALIDATION_SHARE = 0.15
"""Share of the training vectors that an MLP is stopped by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeScore:
    """How well a probe finds the concept in vectors that it was not trained on.

    Attributes:
        auc: Probability that a vector with the concept scores above one without it; 0.5 is a blind guess.
        accuracy: Share of vectors classified rightly, each class counting half; 0.5 is a blind guess.
        chances: For each vector that it was tested on, the probability that it gave to the concept.
        present: Whether the concept was there.
    """

    auc: float
    accuracy: float
    chances: Vector = field(repr=False)
    present: NDArray[np.bool_] = field(repr=False)

    @property
    def tested(self) -> int:
        """Number of vectors it was tested on."""
        return int(self.present.size)


@dataclass(frozen=True, kw_only=True)
class ConceptProbe:
    """A classifier on standardized vectors, stopped or penalized so that it is neither under- nor over-trained.

    Attributes:
        kind: `mlp`, or `linear` for a logistic regression, which fails first where single directions are erased.
        hidden: Widths of the hidden layers of the MLP.
        epochs: Most passes of the MLP over the training vectors.
        held_out: Share of the groups that the score is measured on.
        seed: Of the split, the initial weights and the batches.
    """

    kind: ProbeKind = "mlp"
    hidden: tuple[int, ...] = (256, 128)
    epochs: int = 150
    held_out: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(self.kind, get_args(ProbeKind), "kind of probe")
        widths(self.hidden)
        at_least(self.epochs, 1, "epochs")
        at_least(self.seed, 0, "seed")
        fraction(self.held_out, "held_out")

    def score(
        self, vectors: Embeddings, present: NDArray[np.bool_], groups: NDArray[np.integer[Any]] | None = None
    ) -> ProbeScore:
        """Train on one part of `vectors` and measure on the rest.

        Args:
            vectors: Protected vectors: the attacker adapts to the protection by training on its output.
            present: For each, whether its text holds the concept.
            groups: Vectors of one group (the two sides of a contrast pair) stay on one side of the split.
        """
        with needs_extra("scikit-learn", "audit"):
            from sklearn.metrics import balanced_accuracy_score, roc_auc_score
            from threadpoolctl import threadpool_limits
        checked = embeddings(vectors)
        if present.shape != (checked.shape[0],):
            raise InvalidInputError(f"present must be one truth value per vector, got shape {present.shape}")
        if groups is not None and groups.shape != present.shape:
            raise InvalidInputError(f"groups must be one number per vector, got shape {groups.shape}")
        test = self._choose_test_rows(np.arange(present.size) if groups is None else groups)
        for part, fewest, use in ((present[test], 1, "test"), (present[~test], FEWEST_VECTORS, "train")):
            counts = int(part.sum()), int(part.size - part.sum())
            if min(counts) < fewest:
                raise InvalidInputError(
                    f"a probe needs vectors with and without the concept, {fewest} or more of each to {use} on, "
                    f"got {counts[0]} with it and {counts[1]} without"
                )
        # The matrices are small: threads would cost more than they bring, many times more on a busy machine.
        with threadpool_limits(limits=1), warnings.catch_warnings():
            # The last epoch is a limit that may be reached.
            warnings.filterwarnings("ignore", message="Stochastic Optimizer: Maximum iterations")
            probe = self._build_classifier(int(np.sum(~test))).fit(checked[~test], present[~test])
        chances = probe.predict_proba(checked[test])[:, 1]
        return ProbeScore(
            auc=float(roc_auc_score(present[test], chances)),
            accuracy=float(balanced_accuracy_score(present[test], chances > 0.5)),
            chances=np.asarray(chances, dtype=np.float64),
            present=present[test],
        )

    def _choose_test_rows(self, groups: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        names = np.unique(groups)
        chosen = np.random.default_rng(self.seed).permutation(names)[: round(self.held_out * names.size)]
        return np.isin(groups, chosen)

    def _build_classifier(self, rows: int) -> Any:
        from sklearn.linear_model import LogisticRegression
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        if self.kind == "linear":
            return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000))
        network = MLPClassifier(
            self.hidden,
            alpha=1e-3,
            batch_size=min(64, rows - math.ceil(VALIDATION_SHARE * rows)),
            early_stopping=True,
            max_iter=self.epochs,
            n_iter_no_change=12,
            random_state=self.seed,
            validation_fraction=VALIDATION_SHARE,
        )
        return make_pipeline(StandardScaler(), network)
