"""A trained text network, which reads texts and words out of vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from vecveil.attacks.attack import Recovery, Sample
from vecveil.attacks.generation.tokenizer import TextTokenizer
from vecveil.attacks.generation.training_set import (
    Condition,
    TokenRows,
    sort_batches,
    tokenize,
    use_bfloat16,
    vector_condition,
)
from vecveil.attacks.training import limit_threads, to_tensor
from vecveil.concepts import words
from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.progress import Progress, silent

BATCH = 128

NO_REPEAT = 3
"""Pieces in a row that are not written twice: a small model goes round in circles otherwise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedGenerator:
    """A trained network with its tokenizer. It is an attack by itself, and a part of Vec2Text.

    Attributes:
        model: A `PrefixDecoder`, an `Inverter` or a `Corrector`.
        tokenizer: The model's.
        vocabulary: The sensitive words of the training texts.
        max_tokens: Longest text that it writes.
        beams: Width of the beam search; 1 is greedy.
    """

    model: Any
    tokenizer: TextTokenizer
    vocabulary: tuple[str, ...]
    max_tokens: int
    beams: int

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the likeliest texts and their words."""
        condition = vector_condition(to_tensor(vectors))
        return self.score_words(condition, self.write_texts(condition, len(vectors), progress=progress))

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the probability of each true token where it first stands, given the text before it."""
        return self.score_tokens(vector_condition(to_tensor(sample.vectors)), sample)

    def write_texts(self, condition: Condition, rows: int, *, kept: int = 1, progress: Progress = silent) -> list[str]:
        """Return the `kept` likeliest texts of each row, one after the other; at most as many as there are beams."""
        batches = np.array_split(np.arange(rows), range(BATCH, rows, BATCH)) if rows else []
        self.model.eval()
        pieces: list[list[int]] = []
        with torch.no_grad(), use_bfloat16(), limit_threads(self.model):
            for batch in progress(batches, label="reading texts out of vectors", total=len(batches)):
                pieces += self.model.generate(*condition(batch), beams=self.beams, longest=self.max_tokens, kept=kept)
        return self.tokenizer.decode(pieces)

    def guess_texts(self, vectors: torch.Tensor, progress: Progress) -> list[str]:
        """Return the likeliest text of each vector, without a beam search."""
        return replace(self, beams=1).write_texts(vector_condition(vectors), len(vectors), progress=progress)

    def score_words(self, condition: Condition, texts: Sequence[str]) -> Recovery:
        """Return `texts` as a recovery; a word's score is the highest probability of its first piece along the text."""
        beginnings = [self.tokenizer.first_pieces(word) for word in self.vocabulary]
        scores = np.zeros((len(texts), len(beginnings)))
        if scores.size:
            columns, starts = np.concatenate(beginnings), np.cumsum([0, *map(len, beginnings)])[:-1]
            for row, _, probabilities in self._predict(condition, self._tokenize(texts)):
                scores[row] = np.maximum.reduceat(probabilities.max(dim=0).values.numpy()[columns], starts)
        claimed = tuple(frozenset(words(text)) for text in texts)
        return Recovery(words=claimed, vocabulary=self.vocabulary, scores=scores, texts=tuple(texts))

    def score_tokens(self, condition: Condition, sample: Sample) -> tuple[Vector, ...]:
        """Return the probability of each true token, where it first stands in its text, given all that is before it.

        It is the product over the token's pieces; 0 for a token behind the place where the text is cut.
        """
        if not len(sample):
            return ()
        confidence: list[Vector] = [np.zeros(0)] * len(sample)
        for row, pieces, probabilities in self._predict(condition, self._tokenize(sample.texts)):
            truth = probabilities.gather(1, pieces[:, None])[:, 0].double().numpy()
            places = self.tokenizer.find_words(sample.texts[row], [token.word for token in sample.tokens[row]])
            confidence[row] = np.array(
                [float(np.prod(truth[place])) if 0 < place.stop <= truth.size else 0.0 for place in places]
            )
        return tuple(confidence)

    def _tokenize(self, texts: Sequence[str]) -> TokenRows:
        return tokenize(texts, self.tokenizer, longest=self.max_tokens)

    def _predict(self, condition: Condition, texts: TokenRows) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
        """Yield the number of each text, its pieces, and the probabilities of every piece at each of them."""
        self.model.eval()
        for batch in sort_batches(texts.lengths, BATCH):
            pieces, real = texts.block(batch)
            with torch.no_grad(), use_bfloat16(), limit_threads(self.model):
                logits = self.model(pieces, real, *condition(batch))
            # Padding gets no probabilities, so each text has its own positions only.
            lengths = texts.lengths[batch].tolist()
            parts = (torch.split(values, lengths) for values in (pieces[real], logits.float().softmax(dim=1)))
            yield from zip(batch.tolist(), *parts, strict=True)


def generate_pieces(model: Any, *, beams: int, kept: int, longest: int, **inputs: Any) -> Any:
    """Return the likeliest pieces after `inputs`, the same every time: greedy, or the best `kept` of a beam search."""
    from transformers import LogitsProcessorList, NoRepeatNGramLogitsProcessor

    return model.generate(
        **inputs,
        max_new_tokens=longest,
        num_beams=beams,
        num_return_sequences=kept,
        do_sample=False,
        # Passed ready-made: where vectors take the place of words, the setting of that name comes with a warning.
        logits_processor=LogitsProcessorList([NoRepeatNGramLogitsProcessor(NO_REPEAT)]),
    )
