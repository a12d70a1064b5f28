"""What an attack reads sensitive words from, dimension by dimension. Imports captum; the learner imports it late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from captum.attr import IntegratedGradients
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.attacker import Attacker, DifferentiableAttack

FEWEST_INSTANCES = 10
"""Words in texts that attributions are averaged over at the least; with fewer they would tell of single texts."""

_BATCH = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Attributions:
    """How much of what an attack makes of words comes from each dimension.

    Attributes:
        halves: Summed sizes of attributions per dimension, one row for each of two halves of the texts.
        instances: Number of attributions in the sums.
        gap: Attributions should add up to a difference of two logits; by how much of it they fail to, on average.
    """

    halves: Matrix
    instances: int
    gap: float

    @property
    def weights(self) -> Vector:
        """The mean size of the attributions to each dimension."""
        return np.asarray(self.halves.sum(axis=0) / self.instances)

    @property
    def top_tenth_share(self) -> float:
        """The share that the tenth of the dimensions with the largest weights has in all of them."""
        weights = np.sort(self.weights)
        return float(weights[-max(1, weights.size // 10) :].sum() / max(float(weights.sum()), np.finfo(float).tiny))

    @property
    def half_correlation(self) -> float:
        """How well the two halves agree: their correlation over the dimensions, 0 where one of them is flat."""
        return float(np.asarray(np.corrcoef(self.halves))[0, 1]) if (self.halves.std(axis=1) > 0).all() else 0.0


def token_instances(attacker: Attacker, attack: DifferentiableAttack) -> list[tuple[int, int]]:
    """Return, for each word of each text that the attack knows, the row of the text and the column of the word."""
    if len(attack.vocabulary) < 2:
        raise InvalidInputError(
            f"the attack knows {len(attack.vocabulary)} sensitive word(s), and needs 2 to tell one from another; "
            "for a concept of one word use another shape, such as 'hard-concrete'"
        )
    known = {word: column for column, word in enumerate(attack.vocabulary)}
    found = [(row, known[word]) for row, words in enumerate(attacker.words) for word in words if word in known]
    if len(found) < FEWEST_INSTANCES:
        raise InvalidInputError(
            f"attributions must be averaged over at least {FEWEST_INSTANCES} sensitive words, the texts hold "
            f"{len(found)} that the attack knows"
        )
    return found


def held_out_recall(attacker: Attacker, attack: DifferentiableAttack) -> tuple[float, int]:
    """Return the share of the held-out texts' words that the attack ranks first, as many as each text has."""
    rows = [row for row in attacker.held_out if attacker.words[row]]
    asked = sum(len(attacker.words[row]) for row in rows)
    if not asked:
        raise InvalidInputError(f"none of {len(attacker.held_out)} held-out texts holds a sensitive word")
    with torch.no_grad():
        logits = attack.network(torch.from_numpy(np.asarray(attacker.vectors[rows], dtype=np.float32)))
    read = 0
    for row, columns in zip(rows, (-logits).argsort(dim=1, stable=True).numpy(), strict=True):
        words = attacker.words[row]
        read += len({attack.vocabulary[column] for column in columns[: len(words)]} & set(words))
    return read / asked, asked


def attributed(
    network: torch.nn.Module,
    vectors: NDArray[np.float32],
    instances: Sequence[tuple[int, int]],
    origin: NDArray[np.float32],
    rng: np.random.Generator,
    *,
    steps: int,
    progress: Progress = silent,
) -> Attributions:
    """Return the Integrated Gradients of words' logits along the straight paths from `origin` to their vectors.

    Args:
        network: Vectors to logits.
        vectors: One row per text.
        instances: The row of a text and the column of a word of it, for each attribution.
        origin: Where every path starts.
        rng: Chooses the two halves of the texts.
        steps: Points on a path at which gradients are taken.
        progress: Told after each batch.
    """
    half = rng.permutation(vectors.shape[0]) % 2
    halves = np.zeros((2, vectors.shape[1]))
    missed = explained = 0.0
    starts = range(0, len(instances), _BATCH)
    for start in progress(starts, label="attributing words to dimensions", total=len(starts)):
        rows, columns = np.array(instances[start : start + _BATCH]).T
        shares, gaps = IntegratedGradients(network).attribute(
            torch.from_numpy(vectors[rows]),
            baselines=torch.from_numpy(origin).expand(rows.size, -1),
            target=torch.from_numpy(columns.copy()),
            n_steps=steps,
            return_convergence_delta=True,
        )
        np.add.at(halves, half[rows], shares.detach().double().abs().numpy())
        missed += float(gaps.abs().sum())
        explained += float((shares.sum(dim=1) - gaps).abs().sum())
    return Attributions(halves=halves, instances=len(instances), gap=missed / explained if explained > 0 else 0.0)
