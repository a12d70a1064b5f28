"""The settings that generative attacks share, and the training of their networks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from vecveil.attacks.attack import Attack, Embed, Sample, TrainedAttack, TrainingRun
from vecveil.attacks.generation.tokenizer import TextTokenizer
from vecveil.attacks.training import to_tensor, train
from vecveil.core.checks import at_least, not_negative, positive
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import Fingerprint

if TYPE_CHECKING:
    import torch

    from vecveil.attacks.generation.corrector import Guesses
    from vecveil.attacks.generation.generator import TrainedGenerator
    from vecveil.attacks.generation.training_set import TrainingSet

SMALL = "small"
"""The name of a network that is built here, instead of a pretrained one."""

SCRATCH_RATE, PRIOR_RATE = 1e-3, 5e-4
"""Adam's step for small networks: from scratch, and from weights that are trained already."""


@dataclass(frozen=True, kw_only=True)
class GenerativeAttack(Attack, ABC):
    """The settings of an attack that writes texts.

    Attributes:
        prior: Folder of a prior, made by `vecveil prior`; the attack then starts from it and takes its sizes and its
            tokenizer. Empty to learn from nothing but the audit's texts.
        learning_rate: Adam's step; None takes what suits the start: 1e-3 from scratch, 5e-4 from a prior, and the
            paper's for pretrained weights.
        batch_size: Texts per step.
        epochs: Most passes over the training texts.
        patience: Epochs without improvement after which it stops.
        dropout: Share of each layer that is left out of a step.
        noise: Length of Gaussian noise that is added to the vectors in training, over that of a vector; 0 adds none.
        max_tokens: Longest text in pieces, with the one that ends it; longer ones are cut.
        vocabulary: Most pieces of a tokenizer that is trained here.
        width: Width of a small network.
        layers: Layers of its decoder.
        heads: Attention heads of each layer.
        beams: Width of the beam search; 1 is greedy.
        embedder: The model that made the vectors, passed in by the audit: a prior of another is refused.
    """

    name: ClassVar[str]
    paper_rate: ClassVar[float]
    sizes: ClassVar[tuple[str, ...]] = ("width", "layers", "heads", "vocabulary", "max_tokens")
    prior_options: ClassVar[tuple[str, ...]] = ("batch_size", "learning_rate", "noise")

    prior: str = ""
    learning_rate: float | None = None
    batch_size: int = 64
    epochs: int = 30
    patience: int = 4
    dropout: float = 0.1
    noise: float = 0.0
    max_tokens: int = 48
    vocabulary: int = 8000
    width: int = 256
    layers: int = 4
    heads: int = 4
    beams: int = 1
    embedder: Fingerprint | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.learning_rate is not None:
            positive(self.learning_rate, "learning_rate")
        for name in ("batch_size", "epochs", "patience", "width", "layers", "heads", "beams"):
            at_least(getattr(self, name), 1, name)
        at_least(self.max_tokens, 4, "max_tokens")
        at_least(self.vocabulary, 300, "vocabulary")
        not_negative(self.noise, "noise")
        if not 0 <= self.dropout < 1:
            raise InvalidInputError(f"dropout must be at least 0 and below 1, got {self.dropout!r}")
        if self.width % self.heads:
            raise InvalidInputError(f"width must be a multiple of heads, got {self.width!r} and {self.heads!r}")

    def settings(self) -> dict[str, Any]:
        """Return every setting that changes what is learned, fit for JSON."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.repr}

    def is_small(self, network: str) -> bool:
        """Return whether that network is built here, and not pretrained."""
        return bool(getattr(self, network) == SMALL)

    @abstractmethod
    def build_tokenizer(self, texts: Sequence[str]) -> TextTokenizer:
        """Return the tokenizer of the pretrained weights that the settings name, or one trained on `texts`."""

    @abstractmethod
    def train_networks(self, training: NetworkTraining) -> TrainedAttack:
        """Build and train the networks, for an audit or for a prior."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkTraining(ABC):
    """One training of an attack's networks: on protected vectors, or on public sentences for a prior.

    Attributes:
        attack: The settings.
        run: Texts to learn, with their vectors.
        tokenizer: Cuts the texts into pieces.
        embed: Access to the model; None where the attack does without.
    """

    attack: GenerativeAttack
    run: TrainingRun
    tokenizer: TextTokenizer
    embed: Embed | None

    @cached_property
    def vectors(self) -> torch.Tensor:
        """The vectors to learn."""
        return to_tensor(self.run.sample.vectors)

    @cached_property
    def held_vectors(self) -> torch.Tensor:
        """The vectors to stop by."""
        return to_tensor(self.run.held_out.vectors)

    def fit(
        self, network: Any, name: str, guesses: tuple[Guesses, Guesses] | None = None, *, share: float = 1.0
    ) -> TrainedGenerator:
        """Train one network, or go on with it, and return it.

        Args:
            network: The untrained network.
            name: Its name in the settings of the attack.
            guesses: The guesses that a corrector learns to correct, and those that it is stopped by. A corrector starts
                as a copy of an inverter, and may learn from fewer texts.
            share: Its share of the time, where time is limited.
        """
        from vecveil.attacks.generation.generator import TrainedGenerator
        from vecveil.attacks.generation.training_set import bucket_batches, set_dropout

        attack, (first, second) = self.attack, guesses or (None, None)
        training_set = self._build_set(self.run.sample, self.vectors, first, noise=attack.noise, warn=guesses is None)
        held_out = self._build_set(self.run.held_out, self.held_vectors, second)
        self.initialize(network, name, derived=guesses is not None)
        set_dropout(network, attack.dropout)
        train(
            network,
            batches=bucket_batches(training_set.texts.lengths, attack.batch_size, self.run.rng),
            loss=lambda rows: training_set.loss(network, rows),
            score=lambda: -held_out.mean_loss(network),
            progress=self.run.progress,
            **self.options(name, share=share, derived=guesses is not None),
        )
        return TrainedGenerator(
            model=network,
            tokenizer=self.tokenizer,
            vocabulary=self.run.sample.vocabulary,
            max_tokens=attack.max_tokens,
            beams=attack.beams,
        )

    @abstractmethod
    def initialize(self, network: Any, name: str, *, derived: bool) -> None:
        """Give a network better initial weights, where there are any."""

    @abstractmethod
    def options(self, name: str, *, share: float, derived: bool) -> dict[str, Any]:
        """Return the options of `train` for a network."""

    def guess_texts(self, inverter: TrainedGenerator, *, most: int) -> tuple[list[str], list[str]]:
        """Return guesses at the texts to learn, in a prior at the first `most` of them, and at those to stop by."""
        return inverter.guess_texts(self.vectors, self.run.progress), inverter.guess_texts(
            self.held_vectors, self.run.progress
        )

    def _build_set(
        self, sample: Sample, vectors: torch.Tensor, guesses: Guesses | None, *, noise: float = 0.0, warn: bool = False
    ) -> TrainingSet:
        from vecveil.attacks.generation.training_set import TrainingSet, tokenize, vector_condition

        tokenizer, longest, rows = self.tokenizer, self.attack.max_tokens, None
        condition = vector_condition(vectors, noise=noise)
        if guesses is not None:
            condition, rows = guesses.condition(vectors, tokenizer, longest=longest), len(guesses.texts)
        texts = tokenize(sample.texts[:rows], tokenizer, longest=longest, warn=warn)
        return TrainingSet(texts=texts, condition=condition)
