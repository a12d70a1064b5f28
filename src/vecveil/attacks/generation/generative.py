"""What both generative attacks share: their settings, where they start from, and how they are checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vecveil.attacks.attack import Sample
from vecveil.attacks.priors.prior import Prior, load_prior
from vecveil.attacks.training.checkpoint import Checkpoint
from vecveil.attacks.training.schedule import Schedule
from vecveil.core.checks import at_least, not_negative, positive
from vecveil.core.digests import array_digest, json_digest, text_digest
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.embedders import Fingerprint

if TYPE_CHECKING:
    import torch

    from vecveil.attacks.generation.tokeniser import Tokeniser
    from vecveil.attacks.priors.lesson import PublicLesson

FEWEST = 20
"""Texts below which there is nothing to learn a language from."""

SCRATCH_RATE, PRIOR_RATE = 1e-3, 5e-4
"""Adam's step for small models: from nothing, and from a prior."""


@dataclass(frozen=True, kw_only=True)
class GenerativeAttack(ABC):
    """The settings of an attack that writes texts.

    Attributes:
        prior: Folder of a prior, made by `vecveil prior`; the attack then starts from it and takes its sizes and its
            tokeniser. Empty to learn from nothing but the audit's texts.
        learning_rate: Adam's step; None takes what suits the start: 1e-3 from scratch, 5e-4 from a prior, and the
            paper's for pretrained weights.
        batch_size: Texts per step.
        epochs: Most passes over the training texts.
        patience: Epochs without improvement after which it stops.
        dropout: Share of each layer that is left out of a step.
        noise: Length of Gaussian noise that is added to the vectors in training, over that of a vector; 0 adds none.
        max_tokens: Longest text in pieces, with the one that ends it; longer ones are cut.
        vocabulary: Most pieces of a tokeniser that is trained here.
        width: Width of a small model.
        layers: Layers of its decoder.
        heads: Attention heads of each layer.
        beams: Width of the beam search; 1 is greedy.
        embedder: The model that made the vectors, handed in by the audit: a prior of another is refused.
    """

    name: ClassVar[str]
    sizes: ClassVar[tuple[str, ...]]
    lessons: ClassVar[tuple[str, ...]] = ("batch_size", "learning_rate", "noise")
    releases: ClassVar[int] = 1

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
        """Return every setting that makes a difference to what is learned, fit for JSON."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.repr}

    def prior_settings(self) -> dict[str, Any]:
        """Return the settings that make a difference to a prior: sizes, and how it is taught."""
        return {name: getattr(self, name) for name in (*self.sizes, *self.lessons)}

    @abstractmethod
    def new_tokeniser(self, texts: Sequence[str]) -> Tokeniser:
        """Return the tokeniser of the pretrained weights that the settings name, or one trained on `texts`."""

    @abstractmethod
    def teach_prior(self, lesson: PublicLesson) -> None:
        """Train the networks of a prior on public sentences."""

    def opened_prior(self, sample: Sample) -> Prior | None:
        """Return the prior that the attack starts from, or raise unless it reads vectors like these."""
        if not self.prior:
            return None
        prior = load_prior(Path(self.prior).expanduser())
        prior.require(self.name, self.embedder, sample.vectors.shape[1])
        return prior

    def schedule(self, rate: float) -> Schedule:
        """Return how long and how fast the attack learns where `rate` suits its start."""
        return Schedule(
            epochs=self.epochs,
            learning_rate=rate if self.learning_rate is None else self.learning_rate,
            patience=self.patience,
            warmup=50,
            decay=True,
        )

    def checkpoint(self, folder: Path | None, sample: Sample, prior: Prior | None) -> Checkpoint | None:
        """Return where a training on `sample` is kept, under a key that no other training has."""
        if folder is None:
            return None
        texts = [text_digest(text).hex() for text in sample.texts]
        start = {} if prior is None else dict(prior.training)
        known = {"settings": self.settings(), "vectors": array_digest(sample.vectors), "texts": texts, "start": start}
        return Checkpoint(folder=folder, key=json_digest(known))


def check_samples(name: str, *samples: Sample) -> None:
    """Raise unless there is enough to learn from and to stop by."""
    for sample, what, fewest in zip(samples, ("training", "held-out"), (FEWEST, 1), strict=True):
        if len(sample) < fewest:
            raise InvalidInputError(f"{name} needs at least {fewest} {what} texts, got {len(sample)}")


def set_dropout(network: torch.nn.Module, share: float) -> None:
    """Set every dropout layer of `network`, and the dropout inside the attention of a T5, which is a bare number."""
    import torch

    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
        elif isinstance(getattr(module, "dropout", None), float):
            vars(module)["dropout"] = share


@contextmanager
def seeded(rng: np.random.Generator) -> Iterator[None]:
    """Let torch draw from a seed of `rng`, and leave its own generator as it was."""
    try:
        import torch
        import transformers
    except ImportError:
        raise MissingExtraError("transformers", "models") from None
    del transformers
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**62)))
        yield
