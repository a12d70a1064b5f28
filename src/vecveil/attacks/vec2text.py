"""Vec2Text: an inverter that guesses texts, and a corrector of guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from vecveil.attacks.attack import Embed, TrainedAttack, TrainingRun
from vecveil.attacks.generation.fine_tuning import fine_tune
from vecveil.attacks.generation.generative import SMALL, GenerativeAttack, NetworkTraining
from vecveil.attacks.generation.tokenizer import TextTokenizer, train_tokenizer
from vecveil.attacks.nearest import NearestNeighbor
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from vecveil.attacks.generation.generator import TrainedGenerator
    from vecveil.attacks.generation.inverter import Inverter

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
        embed: Access to the model, passed in by the audit; corrections need it.
    """

    name: ClassVar[str] = "vec2text"
    paper_rate: ClassVar[float] = 5e-5
    sizes: ClassVar[tuple[str, ...]] = (*GenerativeAttack.sizes, INVERTER, CORRECTOR, "encoder_layers", "positions")
    prior_options: ClassVar[tuple[str, ...]] = (*GenerativeAttack.prior_options, "guesses", "steps")

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
        for name in (INVERTER, CORRECTOR):
            if not getattr(self, name):
                raise InvalidInputError(f"{name} must be {SMALL!r}, a name or a folder, got ''")

    def train(self, run: TrainingRun) -> TrainedAttack:
        """Return both networks, trained on protected vectors."""
        if self.steps and self.embed is None:
            raise InvalidInputError(
                f"vec2text corrects its guesses by embedding them: pass embed, or set steps to 0 (got {self.steps})"
            )
        return fine_tune(self, run, embed=self.embed)

    def build_tokenizer(self, texts: Sequence[str]) -> TextTokenizer:
        """Return the tokenizer of a published inverter, or one trained on `texts`."""
        from vecveil.attacks.generation.published import load_inverter_tokenizer

        if self.is_small(INVERTER):
            return train_tokenizer(texts, vocabulary=self.vocabulary)
        return load_inverter_tokenizer(self.inverter)

    def train_networks(self, training: NetworkTraining) -> TrainedAttack:
        """Train the inverter, then the corrector on its guesses."""
        from vecveil.attacks.generation.corrector import TrainedVec2Text

        network = self._build_inverter(training)
        if not self.steps or training.embed is None:
            return training.fit(network, INVERTER)
        inverter = training.fit(network, INVERTER, share=INVERTER_SHARE)
        corrector = self._train_corrector(training, inverter, training.embed)
        known = None
        if self.recall and training.run.sample.vocabulary:
            known = NearestNeighbor(embed=training.embed).train(training.run)
        return TrainedVec2Text(
            inverter=inverter, corrector=corrector, embed=training.embed, steps=self.steps, known=known
        )

    def _build_inverter(self, training: NetworkTraining) -> Inverter:
        from vecveil.attacks.generation.inverter import Inverter, build_small_t5
        from vecveil.attacks.generation.published import load_inverter
        from vecveil.attacks.standardize import Standardize

        if not self.is_small(INVERTER):
            return load_inverter(self.inverter, training.vectors.shape[1])
        model = build_small_t5(
            training.tokenizer,
            width=self.width,
            encoder_layers=self.encoder_layers,
            layers=self.layers,
            heads=self.heads,
        )
        return Inverter(Standardize.fit(training.vectors), model, positions=self.positions)

    def _train_corrector(self, training: NetworkTraining, inverter: TrainedGenerator, embed: Embed) -> TrainedGenerator:
        from vecveil.attacks.generation.corrector import Corrector, Guesses
        from vecveil.attacks.generation.published import load_corrector
        from vecveil.attacks.training import to_tensor

        texts, held_texts = training.guess_texts(inverter, most=self.guesses)
        guesses = Guesses.from_texts(texts, training.run.sample.vectors[: len(texts)], embed)
        held_guesses = Guesses.from_texts(held_texts, training.run.held_out.vectors, embed)
        if self.is_small(CORRECTOR):
            network = Corrector.from_inverter(inverter.model, to_tensor(guesses.vectors))
        else:
            network = load_corrector(self.corrector, guesses.vectors.shape[1])
        return training.fit(network, CORRECTOR, (guesses, held_guesses), share=1 - INVERTER_SHARE)
