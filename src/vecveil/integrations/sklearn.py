"""scikit-learn: a transformer that turns texts, or clean vectors, into protected vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.veil import Guard

with needs_extra("scikit-learn", "scikit-learn"):
    from sklearn.base import BaseEstimator, TransformerMixin


class VeilTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # it has no types
    """Protects texts or vectors; there is nothing to fit, as a veil is learned beforehand.

    Args:
        guard: The veil, its budget, its key and its ledger.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    def fit(self, x: Any, y: Any = None) -> VeilTransformer:
        """Return the transformer itself."""
        del x, y
        return self

    def transform(self, x: Any) -> NDArray[Any]:
        """Return a protected vector for each text or vector of `x`."""
        texts = np.asarray(x, dtype=object) if isinstance(x, list) and x and isinstance(x[0], str) else np.asarray(x)
        if texts.dtype.kind not in "OUT":
            return self.guard.protect_vectors(texts)
        if texts.ndim != 1 and texts.shape[1:] != (1,):
            raise InvalidInputError(f"texts must be one column, got an array of shape {texts.shape}")
        return self.guard.protect_texts([*texts.reshape(-1)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return names of the columns."""
        del input_features
        return np.array([f"veiled{place}" for place in range(self.guard.dimensions)], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        # Fresh noise at every call, unless there is a key.
        tags.non_deterministic = not self.guard.release.is_keyed
        return tags
