"""Leave out what a trained attack reads from, round after round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Literal, get_args

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import at_least, not_negative, one_of
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.attack_gradients import gradient_moment, leading_directions, read_held_out, training_rows
from vecveil.shapes.canonical import Canonical, find_word_directions
from vecveil.shapes.erasure import corpus_center, erase, require_releasable
from vecveil.shapes.evidence import Attacker, Evidence, LabeledEmbeddings
from vecveil.shapes.learner import FittedShape, ShapeLearner, check_attack

Start = Literal["nothing", "canonical"]


@dataclass(frozen=True, kw_only=True)
class AttackGuided(ShapeLearner):
    """Release nothing along the directions from which a trained attack reads sensitive words, and noise on the rest.

    A closed form finds what a linear reader sees, and a network reads on from what is left. So each round trains the
    attack on the release as it is so far, and leaves out the directions in which the logits of the true words change
    most: the first eigenvectors of the second moment of their gradients. It ends early where the attack reads no more
    than guessing would, since its gradients then say nothing. Held-out texts stop the attack and the rounds; apart from
    that the shape does not depend on their words.

    Attributes:
        attack: Name of the attack to be guided by. Its trained form must have gradients, as that of `mlc` has.
        attack_settings: Settings of that attack, over its defaults. An attack that guides may be trained in a hurry,
            as one in an audit may not.
        start: What is left out before the first round: `nothing`, or the best `canonical` directions.
        start_directions: How many canonical directions are left out; fewer where the words give fewer.
        rounds: How often an attack is trained, at most.
        directions: How many directions a round leaves out; fewer where the gradients span fewer.
        noise: Length of the noise on what is released to the attack, over the median length of a vector. It is
            Gaussian, a stand-in for the mechanism's: it only has to hide from the attack what noise would hide.
    """

    attack: str = "mlc"
    attack_settings: Mapping[str, Any] = field(default_factory=lambda: {"epochs": 25, "patience": 4, "batch_size": 256})
    start: Start = "canonical"
    start_directions: int = 20
    rounds: int = 3
    directions: int = 10
    noise: float = 0.3

    def __post_init__(self) -> None:
        check_attack(self)
        one_of(self.start, get_args(Start), "start")
        for name in ("start_directions", "rounds", "directions"):
            at_least(getattr(self, name), 1, name)
        not_negative(self.noise, "noise")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with what the first and the last attack read: each of the release before its own round."""
        corpus = evidence.corpus
        first = self.start_directions if self.start == "canonical" else 0
        total = first + self.rounds * self.directions
        given = f"{first} to start with and {self.rounds} rounds of {self.directions}, {total} in all"
        require_releasable(total, evidence.pairs.dimensions, given=given)
        if find_spec("torch") is None:
            raise MissingExtraError("torch", "local")
        attacker = evidence.attacker(self.attack, self.attack_settings, rng)
        center = corpus_center(corpus)
        left_out, recalls, done = self._first(corpus, attacker), list[float](), 0
        for _ in range(self.rounds):
            released = self._release(corpus.vectors, left_out, center, rng)
            attack = attacker.train(released, rng, progress=progress)
            recall, guessed, _ = read_held_out(corpus, attacker, attack, released)
            recalls.append(recall)
            if recall <= guessed:
                break
            moment = gradient_moment(corpus, attacker, attack, released, rng)
            found = leading_directions(moment, left_out, self.directions)
            left_out, _ = np.linalg.qr(np.column_stack([left_out, found]))
            done += 1
        if not left_out.shape[1]:
            raise InvalidInputError(
                f"the attack {self.attack!r} reads {recalls[0]:.0%} of the sensitive words in held-out texts, and "
                f"guessing the most frequent ones gives {guessed:.0%}: it guides nowhere; more texts may help"
            )
        facts = {
            "directions": float(left_out.shape[1]),
            "rounds_done": float(done),
            "recall_first": recalls[0],
            "recall_last": recalls[-1],
            "recall_by_guessing": guessed,
        }
        return FittedShape(shape=erase(left_out, center=center), facts=facts)

    def _first(self, corpus: LabeledEmbeddings, attacker: Attacker) -> Matrix:
        """Return what is left out before the first round, as orthonormal columns."""
        if self.start == "nothing":
            return np.zeros((corpus.vectors.shape[1], 0))
        rows = np.flatnonzero(training_rows(corpus, attacker)).tolist()
        part = LabeledEmbeddings(vectors=corpus.vectors[rows], words=[corpus.words[row] for row in rows])
        found = find_word_directions(part, ridge=Canonical.ridge, rarest=Canonical.rarest)
        return np.asarray(np.linalg.qr(found.directions[:, : self.start_directions])[0])

    def _release(self, vectors: Embeddings, left_out: Matrix, center: Vector, rng: np.random.Generator) -> Embeddings:
        """Return the vectors with the center along what is left out, and noise along the rest."""
        dimensions, count = left_out.shape
        length = self.noise * float(np.median(np.linalg.norm(vectors, axis=1)))
        noisy = vectors - center + rng.standard_normal(vectors.shape) * (length / np.sqrt(dimensions - count))
        # In double precision: an attack can blow up what rounding leaves along a direction that is left out.
        return np.asarray(center + noisy - (noisy @ left_out) @ left_out.T)
