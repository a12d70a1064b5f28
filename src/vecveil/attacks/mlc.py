"""MLC: a multi-label classifier of the sensitive words behind a vector."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from vecveil.attacks.attack import Attack, Sample, TrainingRun, WordClassifier
from vecveil.attacks.checkpoint import Checkpoint
from vecveil.attacks.training import Schedule, seed_torch, shuffle_batches, to_tensor, train
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.checks import at_least, embeddings, fraction, positive, widths
from vecveil.core.digests import array_digest, json_digest
from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True)
class Mlc(Attack):
    """The paper's MLC: three hidden layers, one sigmoid output per sensitive word, binary cross-entropy.

    It is stronger than the paper's, since an under-trained attack flatters every defense: it is trained until held-out
    data says stop, and words that are there weigh more than the many that aren't.
    `printed=true, epochs=20, patience=20, learning_rate=1e-4, batch_size=64, positive_weight=1` is the paper's.

    Attributes:
        hidden: Widths of the hidden layers.
        learning_rate: Adam's step.
        batch_size: Vectors per step.
        epochs: Most passes over the training vectors.
        patience: Epochs without improvement after which it stops.
        positive_weight: Weight in the loss of a word that is in a text, beside 1 for one that isn't. It multiplies the
            odds that the classifier learns: with more than 1 it says a little too often that a word is there.
        threshold: Probability from which a word is claimed.
        rarest: Words that fewer training texts hold are not learned.
        printed: Whether inputs come as they are, outputs start at random, and the last epoch counts, as in the paper.
    """

    hidden: tuple[int, ...] = (512, 256, 128)
    learning_rate: float = 1e-3
    batch_size: int = 64
    epochs: int = 200
    patience: int = 15
    positive_weight: float = 3.0
    threshold: float = 0.5
    rarest: int = 1
    printed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", widths(self.hidden))
        positive(self.learning_rate, "learning_rate")
        positive(self.positive_weight, "positive_weight")
        for name in ("batch_size", "epochs", "patience", "rarest"):
            at_least(getattr(self, name), 1, name)
        fraction(self.threshold, "threshold")

    def train(self, run: TrainingRun) -> TrainedMlc:
        """Return the classifier, trained on protected vectors."""
        vocabulary = self._choose_vocabulary(run.sample)
        truth, held_truth = run.mark_words(vocabulary, "mlc")
        with seed_torch(run.rng):
            vectors, held_vectors = to_tensor(run.sample.vectors), to_tensor(run.held_out.vectors)
            targets, held_targets = to_tensor(truth), to_tensor(held_truth)
            network = self._build_network(vectors, targets)
            train(
                network,
                schedule=Schedule(epochs=self.epochs, learning_rate=self.learning_rate, patience=self.patience),
                batches=shuffle_batches(len(run.sample), self.batch_size, run.rng),
                loss=lambda rows: self._loss(network(vectors[rows]), targets[rows]),
                # What rises keeps the last epoch.
                score=time.time if self.printed else lambda: self._score(network(held_vectors), held_targets),
                checkpoint=None if run.folder is None else Checkpoint(folder=run.folder, key=self._key(run)),
                label="training mlc",
                progress=run.progress,
            )
        return TrainedMlc(network=network, vocabulary=vocabulary, dimensions=vectors.shape[1], threshold=self.threshold)

    def _choose_vocabulary(self, sample: Sample) -> tuple[str, ...]:
        counts = sample.count_words()
        vocabulary = tuple(word for word in sample.vocabulary if counts[word] >= self.rarest)
        if len(vocabulary) < 2:
            raise InvalidInputError(
                f"mlc needs at least 2 sensitive words to tell apart, the training texts hold {len(vocabulary)}"
                + (f" in {self.rarest} texts or more" if self.rarest > 1 else "")
                + "; a concept of one word is what the concept probes are for"
            )
        return vocabulary

    def _build_network(self, vectors: torch.Tensor, targets: torch.Tensor) -> torch.nn.Module:
        import torch

        from vecveil.attacks.standardize import Standardize

        sizes = [vectors.shape[1], *self.hidden]
        layers: list[torch.nn.Module] = [] if self.printed else [Standardize.fit(vectors)]
        for width, following in pairwise(sizes):
            layers += [torch.nn.Linear(width, following), torch.nn.ReLU()]
        last = torch.nn.Linear(sizes[-1], targets.shape[1])
        if self.printed:
            return torch.nn.Sequential(*layers, last)
        # Each output starts at the word's own frequency, which training would otherwise spend its first epochs on.
        frequencies = targets.mean(dim=0).clamp(1e-4, 1 - 1e-4)
        with torch.no_grad():
            last.bias.copy_(torch.logit(frequencies))
        return torch.nn.Sequential(*layers, last)

    def _loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        import torch

        weight = torch.tensor(self.positive_weight)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets, pos_weight=weight, reduction="sum")
        # Summed over words: in a mean over many of them, gradients would come near Adam's epsilon.
        return loss / targets.shape[0]

    def _score(self, logits: torch.Tensor, targets: torch.Tensor) -> float:
        """Return the micro F1 of the claimed words; minus the loss, below every F1, where no claim is right."""
        # A classifier of rare words claims none for many epochs, but learns; by F1 alone it would be stopped too early.
        claimed = logits.sigmoid() >= self.threshold
        hits = float((claimed * targets).sum())
        return 2 * hits / float(claimed.sum() + targets.sum()) if hits else -float(self._loss(logits, targets))

    def _key(self, run: TrainingRun) -> str:
        samples = run.sample, run.held_out
        return json_digest(
            {
                "settings": repr(self),
                "vectors": [array_digest(sample.vectors) for sample in samples],
                "words": [[[token.word for token in tokens] for tokens in sample.tokens] for sample in samples],
            }
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedMlc(WordClassifier):
    """A trained classifier; its network takes vectors to one logit per word of the vocabulary."""

    network: torch.nn.Module

    def probabilities(self, vectors: Embeddings) -> Matrix:
        """Return, for each vector, the probability of each word."""
        import torch

        released = embeddings(vectors, dimensions=self.dimensions)
        with torch.no_grad():
            logits: torch.Tensor = self.network(to_tensor(released))
            return np.asarray(logits.sigmoid().double().numpy())
