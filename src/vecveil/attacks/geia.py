"""GEIA: a language model that continues a vector, as if it were the first word of its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from vecveil.attacks.attack import Recovery, Sample
from vecveil.attacks.generation.conditions import adapt, noisy, tensor
from vecveil.attacks.generation.decoders import SMALL, decoder_tokeniser, pretrained_decoder, small_decoder
from vecveil.attacks.generation.generative import (
    PRIOR_RATE,
    SCRATCH_RATE,
    GenerativeAttack,
    check_samples,
    seeded,
    set_dropout,
)
from vecveil.attacks.generation.tokeniser import Tokeniser, train_tokeniser
from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

if TYPE_CHECKING:
    import torch

    from vecveil.attacks.generation.prefix_decoder import PrefixDecoder
    from vecveil.attacks.generation.reading import Reader
    from vecveil.attacks.priors.lesson import PublicLesson

NETWORK = "decoder"
PAPER_RATE = 3e-5


@dataclass(frozen=True, kw_only=True)
class Geia(GenerativeAttack):
    """GEIA: two layers project a vector to one position, a language model continues it (teacher forcing).

    The paper fine-tunes the pretrained GPT-2: `decoder="gpt2", learning_rate=3e-5, batch_size=16, epochs=30`. GEIA's
    own code projects with one layer, the paper says two, and so does this.

    Attributes:
        decoder: `small` for a GPT-2 of the given sizes, from scratch or from a prior; `smollm2` for
            SmolLM2-135M-Instruct with its 4-bit weights dequantised; or a causal language model on the Hugging Face
            hub or in a folder, such as `gpt2`.
        hidden: Width of the projection's hidden layer.
    """

    name: ClassVar[str] = "geia"
    sizes: ClassVar[tuple[str, ...]] = ("decoder", "width", "layers", "heads", "hidden", "vocabulary", "max_tokens")

    decoder: str = SMALL
    hidden: int = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self.hidden, 1, "hidden")
        if not self.decoder:
            raise InvalidInputError(f"decoder must be {SMALL!r}, a name or a folder, got {self.decoder!r}")

    def train(
        self,
        sample: Sample,
        held_out: Sample,
        rng: np.random.Generator,
        *,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> TrainedGeia:
        """Return the decoder, trained on protected vectors."""
        check_samples(self.name, sample, held_out)
        prior = self.opened_prior(sample)
        sized = self if prior is None else replace(self, **prior.settings)
        with seeded(rng):
            from vecveil.attacks.generation.reading import Reader
            from vecveil.attacks.generation.teaching import Lesson, teach
            from vecveil.attacks.generation.token_rows import tokenised

            tokeniser = sized.new_tokeniser(sample.texts) if prior is None else prior.tokeniser()
            vectors = tensor(sample.vectors)
            network = sized.start(vectors, tokeniser)
            if prior is not None:
                prior.fill(network, NETWORK)
                adapt(network.standardise, vectors)
            set_dropout(network, self.dropout)
            begun = PAPER_RATE if sized.decoder != SMALL else SCRATCH_RATE
            teach(
                network,
                Lesson(
                    texts=tokenised(sample.texts, tokeniser, longest=sized.max_tokens, warn=True),
                    condition=noisy(vectors, self.noise),
                ),
                Lesson(
                    texts=tokenised(held_out.texts, tokeniser, longest=sized.max_tokens),
                    condition=noisy(tensor(held_out.vectors), 0.0),
                ),
                schedule=self.schedule(begun if prior is None else PRIOR_RATE),
                batch_size=self.batch_size,
                rng=rng,
                checkpoint=self.checkpoint(folder, sample, prior),
                pretrained=prior is not None or sized.decoder != SMALL,
                label="training geia",
                progress=progress,
            )
        reader = Reader(
            tokeniser=tokeniser, vocabulary=sample.vocabulary, max_tokens=sized.max_tokens, beams=self.beams
        )
        return TrainedGeia(network=network, reader=reader)

    def start(self, vectors: torch.Tensor, tokeniser: Tokeniser) -> PrefixDecoder:
        """Return the network before its training."""
        from vecveil.attacks.generation.prefix_decoder import PrefixDecoder
        from vecveil.attacks.standardise import standardised

        if self.decoder == SMALL:
            decoder = small_decoder(
                tokeniser, width=self.width, layers=self.layers, heads=self.heads, positions=self.max_tokens + 1
            )
        else:
            decoder = pretrained_decoder(self.decoder)
        return PrefixDecoder(standardised(vectors), decoder, hidden=self.hidden, tokeniser=tokeniser)

    def new_tokeniser(self, texts: Sequence[str]) -> Tokeniser:
        """Return the tokeniser of a pretrained decoder, or one trained on `texts`."""
        if self.decoder == SMALL:
            return train_tokeniser(texts, vocabulary=self.vocabulary)
        return decoder_tokeniser(self.decoder)

    def teach_prior(self, lesson: PublicLesson) -> None:
        """Train the networks of a prior on public sentences."""
        network = self.start(lesson.vectors, lesson.tokeniser)
        if self.decoder == SMALL:
            lesson.start_words(network.decoder)
        set_dropout(network, 0.0)
        lesson.teach(network, NETWORK, noisy(lesson.vectors, self.noise), noisy(lesson.held_vectors, 0.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedGeia:
    """A trained decoder.

    Attributes:
        network: Vectors to texts.
        reader: Asks it.
    """

    network: PrefixDecoder
    reader: Reader

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the likeliest texts and their words."""
        condition = noisy(tensor(vectors), 0.0)
        texts = self.reader.texts(self.network, condition, len(vectors), progress=progress)
        return self.reader.recovery(self.network, condition, texts)

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the probability of each true token where it first stands, given the text before it."""
        del progress
        return self.reader.confidence(self.network, noisy(tensor(sample.vectors), 0.0), sample)
