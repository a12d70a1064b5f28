"""What a trained text network reads out of vectors: texts, scores of words, and the probability of the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from vecveil.attacks.attack import Recovery, Sample
from vecveil.attacks.generation.teaching import Condition, fast_numbers
from vecveil.attacks.generation.token_rows import TokenRows, by_length
from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.attacks.generation.word_places import word_places
from vecveil.attacks.training.loop import Rows, threads_for
from vecveil.concepts import words
from vecveil.core.arrays import Matrix, Vector
from vecveil.core.progress import Progress, silent

BATCH = 128


@dataclass(frozen=True, kw_only=True, eq=False)
class Reader:
    """Asks a network; the same for every kind of network.

    Attributes:
        tokeniser: The network's.
        vocabulary: The sensitive words that it may be asked for.
        max_tokens: Longest text that it writes.
        beams: Width of the beam search; 1 is greedy.
    """

    tokeniser: Tokeniser
    vocabulary: tuple[str, ...]
    max_tokens: int
    beams: int

    def texts(
        self,
        network: Any,
        condition: Callable[[Rows], Condition],
        rows: int,
        *,
        kept: int = 1,
        progress: Progress = silent,
    ) -> list[str]:
        """Return the `kept` likeliest texts of each row, one after the other; at most as many as there are beams."""
        batches = np.array_split(np.arange(rows), range(BATCH, rows, BATCH)) if rows else []
        network.eval()
        found: list[list[int]] = []
        with torch.no_grad(), fast_numbers(), threads_for(network):
            for batch in progress(batches, label="reading texts out of vectors", total=len(batches)):
                found += network.generate(*condition(batch), beams=self.beams, longest=self.max_tokens, kept=kept)
        return self.tokeniser.decode(found)

    def recovery(self, network: Any, condition: Callable[[Rows], Condition], texts: Sequence[str]) -> Recovery:
        """Return `texts` as what was read, with scores along them.

        The score of a word is the largest probability that its first piece has anywhere along the text.
        """
        claimed = tuple(frozenset(words(text)) for text in texts)
        if not self.vocabulary or not texts:
            scores: Matrix = np.zeros((len(texts), len(self.vocabulary)))
            return Recovery(words=claimed, vocabulary=self.vocabulary, scores=scores, texts=tuple(texts))
        beginnings = [self.tokeniser.first_pieces(word) for word in self.vocabulary]
        columns, starts = np.concatenate(beginnings), np.cumsum([0, *map(len, beginnings)])[:-1]
        scores = np.zeros((len(texts), len(beginnings)))
        for batch, real, chances in self._along(network, condition, self._pieces(texts)):
            # Padding gets no probabilities, so each row is looked at over its own positions.
            ends = np.cumsum(real.sum(dim=1).numpy())
            for row, part in zip(batch, np.split(chances.numpy(), ends[:-1]), strict=True):
                highest = part.max(axis=0)
                scores[row] = np.maximum.reduceat(highest[columns], starts)
        return Recovery(words=claimed, vocabulary=self.vocabulary, scores=scores, texts=tuple(texts))

    def confidence(self, network: Any, condition: Callable[[Rows], Condition], sample: Sample) -> tuple[Vector, ...]:
        """Return the probability of each true token, where it first stands in its text, given all that is before it.

        It is the product over the token's pieces; 0 for a token behind the place where the text is cut.
        """
        if not len(sample):
            return ()
        pieces = self._pieces(sample.texts)
        found: list[Vector] = [np.zeros(0)] * len(sample)
        for batch, real, chances in self._along(network, condition, pieces):
            block, _ = pieces.block(batch)
            truth = chances.gather(1, block[real][:, None])[:, 0].double().numpy()
            for row, part in zip(batch, np.split(truth, np.cumsum(real.sum(dim=1).numpy())[:-1]), strict=True):
                places = word_places(sample.texts[row], [token.word for token in sample.tokens[row]], self.tokeniser)
                found[row] = np.array([_product(part, place) for place in places])
        return tuple(found)

    def _pieces(self, texts: Sequence[str]) -> TokenRows:
        return TokenRows(self.tokeniser.encode(texts, longest=self.max_tokens), padding=self.tokeniser.padding)

    def _along(self, network: Any, condition: Callable[[Rows], Condition], pieces: TokenRows) -> Any:
        """Yield batches of rows, which of their pieces are real, and the probabilities of every piece at those."""
        network.eval()
        for batch in by_length(pieces.lengths, BATCH):
            block, real = pieces.block(batch)
            with torch.no_grad(), fast_numbers(), threads_for(network):
                logits = network(block, real, *condition(batch))
            yield batch, real, logits.float().softmax(dim=1)


def _product(chances: Vector, place: range) -> float:
    if len(place) == 0 or place.stop > chances.size:
        return 0.0
    return float(np.prod(chances[place.start : place.stop]))
