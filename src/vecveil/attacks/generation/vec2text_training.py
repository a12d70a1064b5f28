"""The training of Vec2Text on protected vectors: the inverter, then the corrector on the inverter's guesses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from vecveil.attacks.attack import Sample
from vecveil.attacks.generation.conditions import adapt, noisy, tensor
from vecveil.attacks.generation.correction import Correction, TrainedVec2Text
from vecveil.attacks.generation.corrector import Corrector
from vecveil.attacks.generation.generative import PRIOR_RATE, SCRATCH_RATE, set_dropout
from vecveil.attacks.generation.guesses import Embed, Guesses, embedded_guesses
from vecveil.attacks.generation.inverter import Inverter
from vecveil.attacks.generation.reading import Reader
from vecveil.attacks.generation.teaching import Condition, Lesson, teach
from vecveil.attacks.generation.token_rows import tokenised
from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.attacks.nearest import NearestNeighbour
from vecveil.attacks.priors.prior import Prior
from vecveil.attacks.training.loop import Rows
from vecveil.attacks.vec2text import CORRECTOR, INVERTER, SMALL, Vec2Text
from vecveil.core.progress import Progress

PAPER_RATE = 5e-5


@dataclass(frozen=True, kw_only=True, eq=False)
class Vec2TextTraining:
    """One training.

    Attributes:
        attack: The settings, with the sizes of the prior where there is one.
        sample: What is learned.
        held_out: What it is stopped by.
        prior: Where it starts; None for the start that the settings name.
        rng: Of batches.
        folder: Where to keep checkpoints.
        progress: Told how far it is.
    """

    attack: Vec2Text
    sample: Sample
    held_out: Sample
    prior: Prior | None
    rng: np.random.Generator
    folder: Path | None
    progress: Progress

    def run(self) -> TrainedVec2Text:
        """Return both networks, trained."""
        attack, prior = self.attack, self.prior
        tokeniser = attack.new_tokeniser(self.sample.texts) if prior is None else prior.tokeniser()
        reader = Reader(
            tokeniser=tokeniser,
            vocabulary=self.sample.vocabulary,
            max_tokens=attack.max_tokens,
            beams=attack.beams,
        )
        inverter = self._inverter(tokeniser)
        if attack.embed is None or not attack.steps:
            return TrainedVec2Text(inverter=inverter, correction=None, reader=reader)
        corrector = self._corrector(inverter, replace(reader, beams=1), attack.embed)
        known = None
        if attack.recall and self.sample.vocabulary:
            known = NearestNeighbour(embed=attack.embed).train(self.sample, self.held_out, self.rng)
        correction = Correction(corrector=corrector, embed=attack.embed, steps=attack.steps, known=known)
        return TrainedVec2Text(inverter=inverter, correction=correction, reader=reader)

    def _inverter(self, tokeniser: Tokeniser) -> Inverter:
        vectors, held_vectors = tensor(self.sample.vectors), tensor(self.held_out.vectors)
        network = self.attack.start(vectors, tokeniser)
        if self.prior is not None:
            self.prior.fill(network, INVERTER)
            adapt(network.standardise, vectors)
        self._teach(
            network,
            INVERTER,
            self._lesson(self.sample, tokeniser, noisy(vectors, self.attack.noise), warn=True),
            self._lesson(self.held_out, tokeniser, noisy(held_vectors, 0.0)),
            pretrained=self.prior is not None or self.attack.inverter != SMALL,
        )
        return network

    def _corrector(self, inverter: Inverter, reader: Reader, embed: Embed) -> Corrector:
        vectors, held_vectors = tensor(self.sample.vectors), tensor(self.held_out.vectors)
        guesses, held_guesses = (self._guesses(part, inverter, reader, embed) for part in (self.sample, self.held_out))
        network = self.attack.start_corrector(inverter, tensor(guesses.vectors))
        if self.prior is not None and self.prior.holds(CORRECTOR):
            self.prior.fill(network, CORRECTOR)
            adapt(network.standardise, vectors)
        self._teach(
            network,
            CORRECTOR,
            self._lesson(self.sample, reader.tokeniser, guesses.condition(vectors)),
            self._lesson(self.held_out, reader.tokeniser, held_guesses.condition(held_vectors)),
            pretrained=True,
        )
        return network

    def _guesses(self, sample: Sample, inverter: Inverter, reader: Reader, embed: Embed) -> Guesses:
        vectors = tensor(sample.vectors)
        texts = reader.texts(inverter, noisy(vectors, 0.0), len(sample), progress=self.progress)
        return embedded_guesses(texts, sample.vectors, embed, reader.tokeniser, longest=reader.max_tokens)

    def _lesson(
        self, sample: Sample, tokeniser: Tokeniser, condition: Callable[[Rows], Condition], *, warn: bool = False
    ) -> Lesson:
        texts = tokenised(sample.texts, tokeniser, longest=self.attack.max_tokens, warn=warn)
        return Lesson(texts=texts, condition=condition)

    def _teach(
        self, network: torch.nn.Module, name: str, lesson: Lesson, held_out: Lesson, *, pretrained: bool
    ) -> None:
        attack = self.attack
        set_dropout(network, attack.dropout)
        begun = PAPER_RATE if getattr(attack, name) != SMALL else SCRATCH_RATE
        teach(
            network,
            lesson,
            held_out,
            schedule=attack.schedule(begun if self.prior is None else PRIOR_RATE),
            batch_size=attack.batch_size,
            rng=self.rng,
            checkpoint=attack.checkpoint(None if self.folder is None else self.folder / name, self.sample, self.prior),
            pretrained=pretrained,
            label=f"training the {name} of vec2text",
            progress=self.progress,
        )
