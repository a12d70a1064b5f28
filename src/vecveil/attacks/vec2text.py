"""Vec2Text: an inverter that guesses the text of a vector, and a corrector that sees where its guess landed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from vecveil.attacks.attack import Sample
from vecveil.attacks.generation.conditions import noisy, tensor
from vecveil.attacks.generation.generative import (
    PRIOR_RATE,
    SCRATCH_RATE,
    GenerativeAttack,
    check_samples,
    seeded,
    set_dropout,
)
from vecveil.attacks.generation.guesses import Embed
from vecveil.attacks.generation.tokeniser import Tokeniser, train_tokeniser
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

if TYPE_CHECKING:
    import torch

    from vecveil.attacks.generation.correction import TrainedVec2Text
    from vecveil.attacks.generation.corrector import Corrector
    from vecveil.attacks.generation.inverter import Inverter
    from vecveil.attacks.priors.lesson import PublicLesson

SMALL = "small"
INVERTER, CORRECTOR = "inverter", "corrector"

INVERTER_SHARE = 0.65
"""The inverter's share of the time that a prior may take."""


@dataclass(frozen=True, kw_only=True)
class Vec2Text(GenerativeAttack):
    """Vec2Text: a T5 that reads a projected vector, then one that corrects its guesses, step by step.

    The paper ran the published inverter alone, fine-tuned: `inverter="ielabgroup/vec2text_gtr-base-st_inversion",
    steps=0, learning_rate=5e-5, batch_size=32, epochs=50`.

    Attributes:
        inverter: `small` for a T5 of the sizes below, from scratch or from a prior; or a published inverter on the
            Hugging Face hub or in a folder.
        corrector: `small` for one that starts from the inverter's weights or from the prior; or a published one.
        encoder_layers: Layers of a small encoder.
        positions: Length of the sequence that a vector is projected to; the published networks have 16.
        steps: Corrections of the first guess; 0 leaves the corrector out, as the paper did.
        recall: Whether the nearest of the texts that the attacker knows is among the first guesses, where it corrects
            them: it costs nothing, and a near copy is a better start than any guess.
        guesses: Most sentences whose guesses the corrector of a prior learns from.
        embed: Access to the model, handed in by the audit; corrections need it.
    """

    name: ClassVar[str] = "vec2text"
    sizes: ClassVar[tuple[str, ...]] = (
        "inverter",
        "corrector",
        "width",
        "encoder_layers",
        "layers",
        "heads",
        "positions",
        "vocabulary",
        "max_tokens",
    )

    lessons: ClassVar[tuple[str, ...]] = (*GenerativeAttack.lessons, "guesses", "steps")

    inverter: str = SMALL
    corrector: str = SMALL
    encoder_layers: int = 2
    positions: int = 8
    steps: int = 3
    recall: bool = True
    guesses: int = 20_000
    embed: Embed | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("encoder_layers", "positions", "guesses"):
            at_least(getattr(self, name), 1, name)
        at_least(self.steps, 0, "steps")
        for name in ("inverter", "corrector"):
            if not getattr(self, name):
                raise InvalidInputError(f"{name} must be 'small', a name or a folder, got ''")

    def train(
        self,
        sample: Sample,
        held_out: Sample,
        rng: np.random.Generator,
        *,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> TrainedVec2Text:
        """Return both networks, trained on protected vectors."""
        check_samples(self.name, sample, held_out)
        if self.steps and self.embed is None:
            raise InvalidInputError(
                f"vec2text corrects its guesses by embedding them: hand in embed, or set steps to 0 (got {self.steps})"
            )
        prior = self.opened_prior(sample)
        sized = self if prior is None else replace(self, **prior.settings)
        with seeded(rng):
            from vecveil.attacks.generation.vec2text_training import Vec2TextTraining

            training = Vec2TextTraining(
                attack=sized, sample=sample, held_out=held_out, prior=prior, rng=rng, folder=folder, progress=progress
            )
            return training.run()

    def start(self, vectors: torch.Tensor, tokeniser: Tokeniser) -> Inverter:
        """Return the inverter before its training."""
        from vecveil.attacks.generation.encoder_decoders import small_encoder_decoder
        from vecveil.attacks.generation.inverter import Inverter
        from vecveil.attacks.generation.published import published_inverter
        from vecveil.attacks.standardise import standardised

        if self.inverter != SMALL:
            return published_inverter(self.inverter, vectors.shape[1])
        model = small_encoder_decoder(
            tokeniser, width=self.width, encoder_layers=self.encoder_layers, layers=self.layers, heads=self.heads
        )
        return Inverter(standardised(vectors), model, positions=self.positions)

    def start_corrector(self, inverter: Inverter, guessed: torch.Tensor) -> Corrector:
        """Return the corrector before its training: a published one, or one that starts as the inverter is."""
        from vecveil.attacks.generation.corrector import corrector_from
        from vecveil.attacks.generation.published import published_corrector

        if self.corrector != SMALL:
            return published_corrector(self.corrector, guessed.shape[1])
        return corrector_from(inverter, guessed)

    def teach_prior(self, lesson: PublicLesson) -> None:
        """Train the networks of a prior on public sentences: the inverter, then the corrector on its guesses."""
        from vecveil.attacks.priors.guesses import public_guesses

        inverter = self.start(lesson.vectors, lesson.tokeniser)
        if self.inverter == SMALL:
            lesson.start_words(inverter.encoder_decoder)
        set_dropout(inverter, 0.0)
        condition, held_condition = noisy(lesson.vectors, self.noise), noisy(lesson.held_vectors, 0.0)
        lesson.teach(inverter, INVERTER, condition, held_condition, share=INVERTER_SHARE if self.steps else 1.0)
        if not self.steps:
            return
        guesses, held_guesses = public_guesses(lesson, inverter, CORRECTOR, most=self.guesses)
        corrector = self.start_corrector(inverter, tensor(guesses.vectors))
        set_dropout(corrector, 0.0)
        lesson.teach(
            corrector,
            CORRECTOR,
            guesses.condition(lesson.vectors),
            held_guesses.condition(lesson.held_vectors),
            rows=len(guesses.texts),
            share=1 - INVERTER_SHARE,
            rate=PRIOR_RATE / SCRATCH_RATE,
        )

    def new_tokeniser(self, texts: Sequence[str]) -> Tokeniser:
        """Return the tokeniser of a published inverter, or one trained on `texts`."""
        from vecveil.attacks.generation.published import published_tokeniser

        if self.inverter != SMALL:
            return published_tokeniser(self.inverter)
        return train_tokeniser(texts, vocabulary=self.vocabulary)
