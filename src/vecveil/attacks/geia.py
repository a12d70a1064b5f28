"""GEIA: a language model that continues a vector like a word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from vecveil.attacks.attack import TrainedAttack, TrainingRun
from vecveil.attacks.generation.fine_tuning import fine_tune
from vecveil.attacks.generation.generative import SMALL, GenerativeAttack, NetworkTraining
from vecveil.attacks.generation.tokenizer import TextTokenizer, train_tokenizer
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError

NETWORK = "decoder"


@dataclass(frozen=True, kw_only=True)
class Geia(GenerativeAttack):
    """GEIA: two layers project a vector to one position, a language model continues it (teacher forcing).

    The paper fine-tunes the pretrained GPT-2: `decoder="gpt2", learning_rate=3e-5, batch_size=16, epochs=30`. GEIA's
    own code projects with one layer, the paper says two, and so does this.

    Attributes:
        decoder: `small` for a GPT-2 of the given sizes, from scratch or from a prior; `smollm2` for
            SmolLM2-135M-Instruct with its 4-bit weights dequantized; or a causal language model on the Hugging Face
            hub or in a folder, such as `gpt2`.
        hidden: Width of the projection's hidden layer.
    """

    name: ClassVar[str] = "geia"
    paper_rate: ClassVar[float] = 3e-5
    sizes: ClassVar[tuple[str, ...]] = (*GenerativeAttack.sizes, "decoder", "hidden")

    decoder: str = SMALL
    hidden: int = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self.hidden, 1, "hidden")
        if not self.decoder:
            raise InvalidInputError(f"decoder must be {SMALL!r}, a name or a folder, got {self.decoder!r}")

    def train(self, run: TrainingRun) -> TrainedAttack:
        """Return the decoder, trained on protected vectors."""
        return fine_tune(self, run)

    def build_tokenizer(self, texts: Sequence[str]) -> TextTokenizer:
        """Return the tokenizer of a pretrained decoder, or one trained on `texts`."""
        from vecveil.attacks.generation.decoder import load_decoder_tokenizer

        if self.is_small(NETWORK):
            return train_tokenizer(texts, vocabulary=self.vocabulary)
        return load_decoder_tokenizer(self.decoder)

    def train_networks(self, training: NetworkTraining) -> TrainedAttack:
        """Build the decoder and train it."""
        from vecveil.attacks.generation.decoder import PrefixDecoder, build_gpt2, load_decoder
        from vecveil.attacks.standardize import Standardize

        tokenizer = training.tokenizer
        if self.is_small(NETWORK):
            decoder = build_gpt2(
                tokenizer, width=self.width, layers=self.layers, heads=self.heads, positions=self.max_tokens + 1
            )
        else:
            decoder = load_decoder(self.decoder)
        standardize = Standardize.fit(training.vectors)
        network = PrefixDecoder(standardize, decoder, hidden=self.hidden, tokenizer=tokenizer)
        return training.fit(network, NETWORK)
