"""Denoisers of attackers who know the noise: a filter, a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from vecveil.attacks.training import Schedule, seed_torch, shuffle_batches, to_tensor, train
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import embeddings, orthonormal
from vecveil.core.errors import InvalidInputError

Denoise: TypeAlias = Callable[[Embeddings], Embeddings]
"""Takes released vectors to estimates of the clean ones."""

DENOISERS = ("wiener", "mlp", "none")

FEWEST_ROWS = 2

HIDDEN, EPOCHS, PATIENCE, BATCH, HELD_OUT = 512, 60, 6, 128, 0.1
"""Of the network: its width, its training, and the share of the rows that it is stopped by."""

STILL, SMALLEST = 1e-12, 1e-60
"""Variances that count as none: as a share of the largest, and at any scale."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WienerFilter:
    """The linear estimate of a clean vector with the least mean squared error.

    Attributes:
        filter: Takes a released vector's distance from the center to the estimate's.
        released_center: Mean of released vectors.
        clean_center: Mean of clean ones.
    """

    filter: Matrix
    released_center: Vector
    clean_center: Vector

    def __call__(self, released: Embeddings) -> Embeddings:
        """Return the estimates of the clean vectors, of the same type."""
        checked = embeddings(released, dimensions=self.filter.shape[0], name="released vectors")
        moved = np.asarray(checked, dtype=np.float64) - self.released_center
        return np.asarray(moved @ self.filter.T + self.clean_center, dtype=checked.dtype)

    @classmethod
    def fit(cls, clean: Embeddings, released: Embeddings, *, axes: Matrix | None = None) -> WienerFilter:
        """Return the filter for a defense whose noise is uncorrelated along known axes.

        The mechanism and its shape are public, so an attacker can put any texts through it. From pairs of clean and
        released vectors it measures, axis by axis, the gain of the defense and the variance of its noise: with known
        axes that is two numbers for each, where a blind regression would have to learn a full matrix.

        Args:
            clean: Vectors of texts that the attacker has, as the model makes them.
            released: The same, as the defense lets them out.
            axes: The shape's axes as orthonormal columns; None for the coordinate axes.
        """
        before = np.asarray(embeddings(clean, name="clean vectors"), dtype=np.float64)
        after = np.asarray(embeddings(released, dimensions=before.shape[1], name="released vectors"), dtype=np.float64)
        if before.shape != after.shape or before.shape[0] < FEWEST_ROWS:
            raise InvalidInputError(
                f"a filter needs {FEWEST_ROWS} rows or more, clean and released, got {before.shape[0]} and "
                f"{after.shape[0]}"
            )
        basis = np.eye(before.shape[1]) if axes is None else orthonormal(axes, before.shape[1])
        centers = before.mean(axis=0), after.mean(axis=0)
        signal, seen = (before - centers[0]) @ basis, (after - centers[1]) @ basis
        power = (signal**2).mean(axis=0)
        # An axis that is not released has no gain and no spread: any positive number keeps the matrix invertible.
        floor = max(STILL * float(power.max()), SMALLEST)
        gain = (signal * seen).mean(axis=0) / np.maximum(power, floor)
        noise = np.maximum(((seen - gain * signal) ** 2).mean(axis=0), floor)
        # Copies of a text are released apart, but say nothing new of what texts are like.
        covariance = _covariance(signal, texts=len({row.tobytes() for row in before}))
        crossed = covariance * gain
        observed = gain[:, None] * crossed + np.diag(noise)
        return cls(
            filter=basis @ np.linalg.solve(observed, crossed.T).T @ basis.T,
            released_center=centers[1],
            clean_center=centers[0],
        )


def _covariance(signal: Matrix, *, texts: int) -> Matrix:
    """Return the covariance of centered rows, with correlations shrunk as far as chance explains them.

    With fewer texts than dimensions, the plain covariance says that most directions never move, and a filter would wipe
    out whatever new texts have there. The share that is taken off is Schäfer and Strimmer's (2005): the variance of the
    estimated covariances over their squares, both summed over pairs of axes.
    """
    plain = signal.T @ signal / signal.shape[0]
    own = np.diag(np.diag(plain))
    between = float(((plain - own) ** 2).sum())
    squares = signal**2
    scatter = float((squares.sum(axis=1) ** 2).mean() - (squares**2).sum(axis=1).mean()) - between
    share = min(1.0, scatter / texts / between) if between > 0 else 0.0
    return np.asarray(plain + share * (own - plain))


def fit_denoiser(
    kind: str, clean: Embeddings, released: Embeddings, rng: np.random.Generator, *, axes: Matrix | None = None
) -> Denoise:
    """Return what estimates clean vectors from released ones.

    Args:
        kind: "wiener" for the best linear estimate; "mlp" for a network that learns what the filter leaves.
        clean: Vectors of texts that the attacker has, as the model makes them.
        released: The same, as the defense lets them out.
        rng: Of the network's first weights and batches.
        axes: The shape's axes as orthonormal columns; None for the coordinate axes.
    """
    wiener = WienerFilter.fit(clean, released, axes=axes)
    return wiener if kind == "wiener" else _train_network(wiener, clean, released, rng)


def _train_network(wiener: WienerFilter, clean: Embeddings, released: Embeddings, rng: np.random.Generator) -> Denoise:
    """Return the filter with a network behind it that estimates what it is off by: it starts where the filter ends."""
    with seed_torch(rng):
        import torch

        from vecveil.attacks.standardize import Standardize

        seen, wanted = to_tensor(released), to_tensor(clean) - to_tensor(wiener(released))
        last = torch.nn.Linear(HIDDEN, wanted.shape[1])
        torch.nn.init.zeros_(last.weight)
        torch.nn.init.zeros_(last.bias)
        network = torch.nn.Sequential(
            Standardize.fit(seen), torch.nn.Linear(seen.shape[1], HIDDEN), torch.nn.ReLU(), torch.nn.Dropout(0.1), last
        )
        order = rng.permutation(len(seen))
        held_out, rows = np.split(order, [max(1, round(HELD_OUT * len(seen)))])
        scale = float((wanted**2).sum(dim=1).mean())
        shuffled = shuffle_batches(len(rows), BATCH, rng)
        train(
            network,
            schedule=Schedule(epochs=EPOCHS, learning_rate=1e-3, patience=PATIENCE),
            batches=lambda epoch: [rows[batch] for batch in shuffled(epoch)],
            loss=lambda batch: ((network(seen[batch]) - wanted[batch]) ** 2).sum(dim=1).mean() / max(scale, SMALLEST),
            score=lambda: -float(((network(seen[held_out]) - wanted[held_out]) ** 2).sum(dim=1).mean()),
            pretrained=True,
            label="training the denoiser",
        )
        network.eval()

    def denoise(vectors: Embeddings) -> Embeddings:
        with torch.no_grad():
            return np.asarray(wiener(vectors) + network(to_tensor(vectors)).numpy(), dtype=vectors.dtype)

    return denoise
