"""Vec2Text's second network, and the trained attack that corrects its guesses."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import torch

from vecveil.attacks.attack import Embed, Recovery, Sample
from vecveil.attacks.generation.generator import TrainedGenerator
from vecveil.attacks.generation.inverter import EncoderDecoder, Inverter
from vecveil.attacks.generation.tokenizer import TextTokenizer
from vecveil.attacks.generation.training_set import Condition, tokenize, vector_condition
from vecveil.attacks.nearest import TrainedNearestNeighbor
from vecveil.attacks.standardize import Standardize
from vecveil.attacks.training import Rows, to_tensor
from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.digests import array_digest
from vecveil.core.progress import Progress, silent


class Corrector(EncoderDecoder):
    """A T5 that reads a target, a guess with its embedding, and the difference of the two embeddings.

    Guesses have a scale of their own: their embeddings are clean where a target is noisy.
    """

    def __init__(
        self, standardize: Standardize, standardize_guess: Standardize, encoder_decoder: Any, *, positions: int
    ) -> None:
        super().__init__(standardize, encoder_decoder, positions=positions)
        self.standardize_guess = standardize_guess
        self.embedding_transform_1 = self._build_projection()
        self.embedding_transform_2 = self._build_projection()
        self.embedding_transform_3 = self._build_projection()
        self.layernorm = torch.nn.LayerNorm(encoder_decoder.config.d_model)

    @classmethod
    def from_inverter(cls, inverter: Inverter, guessed: torch.Tensor) -> Corrector:
        """Return a corrector of guesses with the embeddings `guessed`, with copies of an inverter's weights."""
        network = cls(
            deepcopy(inverter.standardize),
            Standardize.fit(guessed),
            deepcopy(inverter.encoder_decoder),
            positions=inverter.positions,
        )
        for transform in (network.embedding_transform_1, network.embedding_transform_2, network.embedding_transform_3):
            transform.load_state_dict(inverter.embedding_transform.state_dict())
        return network

    def encoder_inputs(self, *condition: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the three projected vectors and the guess, separated, and which positions are no padding.

        The condition is the targets, the embeddings of the guesses, the pieces of the guesses, and which are real.
        """
        vectors, guessed, pieces, real = condition
        rows = vectors.shape[0]
        target, guess = self.standardize(vectors), self.standardize_guess(guessed)
        words = self.encoder_decoder.encoder.embed_tokens
        separator = words(torch.full((rows, 1), self.encoder_decoder.config.eos_token_id))
        parts = [
            self.embedding_transform_1(target),
            self.embedding_transform_3(guess),
            self.embedding_transform_2(target - guess),
        ]
        separated = [part for vector in parts for part in (separator, vector.reshape(rows, self.positions, -1))]
        sequence = self.layernorm(torch.cat([*separated, separator, words(pieces)], dim=1))
        known = torch.ones((rows, 4 + 3 * self.positions), dtype=torch.long)
        return sequence, torch.cat([known, real.long()], dim=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Guesses:
    """One guess at the text of each vector, with its embedding.

    Attributes:
        texts: The guesses.
        vectors: Their clean embeddings.
        nearness: Cosine of each guess's embedding to the vector that it is a guess at.
    """

    texts: tuple[str, ...]
    vectors: Embeddings
    nearness: Vector

    @classmethod
    def from_texts(cls, texts: Sequence[str], targets: Embeddings, embed: Embed) -> Guesses:
        """Return `texts` as guesses at the texts of `targets`."""
        # An embedder takes no empty text, and an attack may guess nothing.
        vectors = np.asarray(embed([text or "." for text in texts]))
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(targets, axis=1)
        nearness = np.sum(vectors * targets, axis=1, dtype=np.float64) / lengths
        return cls(texts=tuple(texts), vectors=vectors, nearness=nearness)

    def choose_nearer(self, other: Guesses) -> Guesses:
        """Return, row by row, the guess that landed nearer to its vector; this one where both landed alike."""
        better = other.nearness > self.nearness
        texts = (new if wins else old for old, new, wins in zip(self.texts, other.texts, better, strict=True))
        return Guesses(
            texts=tuple(texts),
            vectors=np.where(better[:, None], other.vectors, self.vectors),
            nearness=np.maximum(self.nearness, other.nearness),
        )

    def condition(self, targets: torch.Tensor, tokenizer: TextTokenizer, *, longest: int) -> Condition:
        """Return the inputs of the corrector: target, embedding of the guess, and its pieces."""
        pieces, vectors = tokenize(self.texts, tokenizer, longest=longest), to_tensor(self.vectors)

        def take_rows(rows: Rows) -> tuple[torch.Tensor, ...]:
            return targets[rows], vectors[rows], *pieces.block(rows)

        return take_rows


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedVec2Text:
    """Both networks, trained.

    Attributes:
        inverter: Writes first guesses.
        corrector: Writes better ones.
        embed: Embeds guesses.
        steps: Number of corrections.
        known: Finds the nearest of the attacker's own texts, as another first guess; None to do without.
    """

    inverter: TrainedGenerator
    corrector: TrainedGenerator
    embed: Embed
    steps: int
    known: TrainedNearestNeighbor | None = None
    _last: dict[str, Guesses] = field(default_factory=dict, init=False, repr=False)

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the texts whose embeddings come nearest to the vectors, and their words."""
        if not len(vectors):
            return self.inverter.recover(vectors)
        best = self._best_guesses(vectors, progress)
        return self.corrector.score_words(self._condition(best, vectors), best.texts)

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the probability that the corrector, given the best guess, gives to each true token."""
        if not len(sample):
            return ()
        best = self._best_guesses(sample.vectors, progress)
        return self.corrector.score_tokens(self._condition(best, sample.vectors), sample)

    def _best_guesses(self, vectors: Embeddings, progress: Progress) -> Guesses:
        # An audit asks for the texts and then for the confidence, and guessing is most of the work.
        key = array_digest(vectors)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._guess(vectors, progress)
        return self._last[key]

    def _guess(self, vectors: Embeddings, progress: Progress) -> Guesses:
        guess = self._write_nearest(self.inverter, vector_condition(to_tensor(vectors)), vectors, progress)
        if self.known is not None:
            nearest = self.known.recover(vectors).texts or ()
            guess = guess.choose_nearer(Guesses.from_texts(nearest, vectors, self.embed))
        best = guess
        for _ in range(self.steps):
            guess = self._write_nearest(self.corrector, self._condition(guess, vectors), vectors, progress)
            best = best.choose_nearer(guess)
        return best

    def _write_nearest(
        self, generator: TrainedGenerator, condition: Condition, vectors: Embeddings, progress: Progress
    ) -> Guesses:
        """Return, of all beams, the guess whose embedding comes nearest."""
        beams = generator.beams
        texts = generator.write_texts(condition, len(vectors), kept=beams, progress=progress)
        guesses = (Guesses.from_texts(texts[beam::beams], vectors, self.embed) for beam in range(beams))
        return reduce(Guesses.choose_nearer, guesses)

    def _condition(self, guesses: Guesses, vectors: Embeddings) -> Condition:
        corrector = self.corrector
        return guesses.condition(to_tensor(vectors), corrector.tokenizer, longest=corrector.max_tokens)
