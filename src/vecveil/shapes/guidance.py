"""What a trained attack tells a defender: how well it reads, and along which directions. Imports torch late."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.attacker import Attacker, DifferentiableAttack

FEWEST_INSTANCES = 10
"""Words in texts that gradients are averaged over at the least; with fewer they would tell of single texts."""

LEAST_SHARE = 1e-9
"""Share of the squared gradients below which what lies along a direction is rounding."""

MOST_INSTANCES = 2048
"""Words in texts that gradients are averaged over at the most, chosen at random: main directions need no more."""

_BATCH = 512


def learned_rows(attacker: Attacker) -> NDArray[np.bool_]:
    """Return, for each text, whether attacks are trained on it."""
    learned = np.ones(len(attacker.words), dtype=np.bool_)
    learned[list(attacker.held_out)] = False
    return learned


def present_words(attacker: Attacker, attack: DifferentiableAttack) -> NDArray[np.bool_]:
    """Return one row per text and one column per word that the attack knows: whether the text holds it."""
    columns = {word: column for column, word in enumerate(attack.vocabulary)}
    present = np.zeros((len(attacker.words), len(columns)), dtype=np.bool_)
    for row, words in enumerate(attacker.words):
        present[row, [columns[word] for word in words if word in columns]] = True
    return present


def read_and_guessed(attacker: Attacker, attack: DifferentiableAttack, released: Embeddings) -> tuple[float, float]:
    """Return the share of the held-out texts' words that the attack ranks first, and the share of one who guesses.

    Each text is asked for as many words as it holds; who guesses names the most frequent words of the training texts.
    """
    import torch

    held = [row for row in attacker.held_out if attacker.words[row]]
    if not held:
        raise InvalidInputError(f"none of {len(attacker.held_out)} held-out texts holds a sensitive word")
    with torch.no_grad():
        logits = attack.network(torch.from_numpy(released[held].astype(np.float32))).double().numpy()
    present = present_words(attacker, attack)
    frequencies = np.broadcast_to(present[learned_rows(attacker)].mean(axis=0), logits.shape)
    asked = np.array([len(attacker.words[row]) for row in held])
    ranks = (np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) for scores in (logits, frequencies))
    read, guessed = (float(present[held][rank < asked[:, np.newaxis]].sum() / asked.sum()) for rank in ranks)
    return read, guessed


def gradient_moment(
    attacker: Attacker, attack: DifferentiableAttack, released: Embeddings, rng: np.random.Generator
) -> Matrix:
    """Return the second moment of the gradients of true words' logits, at the released vectors of training texts."""
    import torch

    rows, columns = np.nonzero(present_words(attacker, attack) & learned_rows(attacker)[:, np.newaxis])
    if rows.size < FEWEST_INSTANCES:
        raise InvalidInputError(
            f"gradients must be averaged over at least {FEWEST_INSTANCES} sensitive words, the training texts hold "
            f"{rows.size} that the attack knows"
        )
    chosen = rng.permutation(rows.size)[:MOST_INSTANCES]
    moment = np.zeros((released.shape[1], released.shape[1]))
    for batch in np.split(chosen, range(_BATCH, chosen.size, _BATCH)):
        inputs = torch.from_numpy(released[rows[batch]].astype(np.float32)).requires_grad_()
        logits = attack.network(inputs).gather(1, torch.from_numpy(columns[batch, np.newaxis]))
        # Rows don't mix in the network, so the gradient of the sum holds the gradient of each row's logit.
        gradients = torch.autograd.grad(logits.sum(), inputs)[0].double().numpy()
        moment += gradients.T @ gradients / chosen.size
    return moment


def leading(moment: Matrix, left_out: Matrix, count: int) -> Matrix:
    """Return the first eigenvectors of `moment` at right angles to what is left out already, `count` at most."""
    rest = np.eye(len(moment)) - left_out @ left_out.T
    sizes, axes = np.linalg.eigh(rest @ moment @ rest)
    told = sizes[-count:] > LEAST_SHARE * np.trace(moment)
    return np.asarray(axes[:, -count:][:, told][:, ::-1])
