"""Gradients of a trained attack, and what it reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.evidence import Attacker, DifferentiableAttack, LabeledEmbeddings

FEWEST_INSTANCES = 10
"""Words in texts that gradients are averaged over at the least; with fewer they would tell of single texts."""

MOST_INSTANCES = 2048
"""Words in texts whose gradients make the main directions at the most, chosen at random."""

LEAST_SHARE = 1e-9
"""Share of the squared gradients below which what lies along a direction is rounding."""

_BATCH = 512


def training_rows(corpus: LabeledEmbeddings, attacker: Attacker) -> NDArray[np.bool_]:
    """Return, for each text, whether attacks are trained on it."""
    trained = np.ones(len(corpus.words), dtype=np.bool_)
    trained[list(attacker.held_out)] = False
    return trained


def read_held_out(
    corpus: LabeledEmbeddings, attacker: Attacker, attack: DifferentiableAttack, released: Embeddings
) -> tuple[float, float, int]:
    """Return the share of the held-out texts' words that the attack ranks first, that of guessing, and their number.

    Each text is asked for as many words as it holds; who guesses names the most frequent words of the training texts.
    """
    import torch

    held = [row for row in attacker.held_out if corpus.words[row]]
    if not held:
        raise InvalidInputError(f"none of {len(attacker.held_out)} held-out texts holds a sensitive word")
    with torch.no_grad():
        logits = attack.network(torch.from_numpy(released[held].astype(np.float32))).double().numpy()
    present = corpus.word_table(attack.vocabulary)
    frequencies = np.broadcast_to(present[training_rows(corpus, attacker)].mean(axis=0), logits.shape)
    asked = np.array([len(corpus.words[row]) for row in held])
    ranks = (np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) for scores in (logits, frequencies))
    read, guessed = (float(present[held][rank < asked[:, np.newaxis]].sum() / asked.sum()) for rank in ranks)
    return read, guessed, int(asked.sum())


def gradient_moment(
    corpus: LabeledEmbeddings,
    attacker: Attacker,
    attack: DifferentiableAttack,
    released: Embeddings,
    rng: np.random.Generator,
) -> Matrix:
    """Return the second moment of the gradients of true words' logits, at the released vectors of training texts."""
    trained = training_rows(corpus, attacker)[:, np.newaxis]
    rows, columns = _instances(corpus.word_table(attack.vocabulary) & trained)
    chosen = rng.permutation(rows.size)[:MOST_INSTANCES]
    moment = np.zeros((released.shape[1], released.shape[1]))
    for batch in np.split(chosen, range(_BATCH, chosen.size, _BATCH)):
        gradients = _gradients(attack, released[rows[batch]], columns[batch])
        moment += gradients.T @ gradients / chosen.size
    return moment


def leading_directions(moment: Matrix, left_out: Matrix, count: int) -> Matrix:
    """Return the first eigenvectors of `moment` at right angles to what is left out already, `count` at most."""
    rest = np.eye(len(moment)) - left_out @ left_out.T
    sizes, axes = np.linalg.eigh(rest @ moment @ rest)
    large = sizes[-count:] > LEAST_SHARE * np.trace(moment)
    return np.asarray(axes[:, -count:][:, large][:, ::-1])


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


def attribute_words(
    corpus: LabeledEmbeddings,
    attack: DifferentiableAttack,
    origin: Vector,
    rng: np.random.Generator,
    *,
    steps: int,
    progress: Progress = silent,
) -> Attributions:
    """Return the Integrated Gradients of words' logits along the straight paths from `origin` to their vectors.

    Args:
        corpus: The vectors, and the words of each.
        attack: Gives each word a logit.
        origin: Where every path starts.
        rng: Chooses the two halves of the texts.
        steps: Points on a path at which gradients are taken, those of Gauss and Legendre.
        progress: Told after each batch.
    """
    if len(attack.vocabulary) < 2:
        raise InvalidInputError(
            f"the attack knows {len(attack.vocabulary)} sensitive word(s), and needs 2 to tell one from another; "
            "for a concept of one word use another shape, such as 'hard-concrete'"
        )
    rows, columns = _instances(corpus.word_table(attack.vocabulary))
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    half = rng.permutation(len(corpus.words)) % 2
    halves, missed, explained = np.zeros((2, origin.size)), 0.0, 0.0
    batches = np.split(np.arange(rows.size), range(_BATCH, rows.size, _BATCH))
    for batch in progress(batches, label="attributing words to dimensions", total=len(batches)):
        paths = np.asarray(corpus.vectors[rows[batch]] - origin, dtype=np.float64)
        mean = sum(
            weight / 2 * _gradients(attack, origin + (node + 1) / 2 * paths, columns[batch])
            for node, weight in zip(nodes, weights, strict=True)
        )
        shares = paths * mean
        ends = (_logits(attack, origin + share * paths, columns[batch]) for share in (1.0, 0.0))
        difference = next(ends) - next(ends)
        np.add.at(halves, half[rows[batch]], np.abs(shares))
        missed += float(np.abs(shares.sum(axis=1) - difference).sum())
        explained += float(np.abs(difference).sum())
    return Attributions(halves=halves, instances=rows.size, gap=missed / explained if explained > 0 else 0.0)


def _instances(present: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, for each word of each text that the attack knows, the row of the text and the column of the word."""
    rows, columns = np.nonzero(present)
    if rows.size < FEWEST_INSTANCES:
        raise InvalidInputError(
            f"gradients must be averaged over at least {FEWEST_INSTANCES} sensitive words, the texts hold {rows.size} "
            "that the attack knows"
        )
    return rows, columns


def _gradients(attack: DifferentiableAttack, vectors: Embeddings, columns: NDArray[np.intp]) -> Matrix:
    """Return the gradient of one logit of each row with respect to the row's vector."""
    import torch

    inputs = torch.from_numpy(vectors.astype(np.float32)).requires_grad_()
    logits = attack.network(inputs).gather(1, torch.from_numpy(columns[:, np.newaxis]))
    # Rows don't mix in the network, so the gradient of the sum holds the gradient of each row's logit.
    gradients: Matrix = torch.autograd.grad(logits.sum(), inputs)[0].double().numpy()
    return gradients


def _logits(attack: DifferentiableAttack, vectors: Embeddings, columns: NDArray[np.intp]) -> Vector:
    import torch

    with torch.no_grad():
        logits = attack.network(torch.from_numpy(vectors.astype(np.float32)))
    found: Vector = logits.gather(1, torch.from_numpy(columns[:, np.newaxis]))[:, 0].double().numpy()
    return found
