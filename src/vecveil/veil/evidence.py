"""Evidence of a corpus, with an attacker on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.attacks import Attack, Sample, TrainingRun, build_attack
from vecveil.concepts import ContrastSet, Passage, SensitiveToken, sensitive_tokens
from vecveil.concepts.passage import Spans
from vecveil.concepts.replacement import collect_surfaces, replace_spans
from vecveil.core.arrays import Embeddings, spread_rows
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.shapes import ContrastPairs, DifferentiableAttack, Evidence, LabeledEmbeddings
from vecveil.veil.embedding import embed_texts

MOST_SWAPS, MOST_SWAPS_OF_A_TEXT = 3000, 8
"""Texts with swapped values that are embedded, in all and of each text."""

HELD_OUT = 0.15
"""Share of the texts, of those with the concept and of the others, that an attack is stopped by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabeledTexts:
    """Texts with their sensitive tokens and their clean vectors.

    Attributes:
        texts: The corpus.
        tokens: The sensitive tokens of each text.
        vectors: The clean vector of each text.
    """

    texts: tuple[str, ...] = field(repr=False)
    tokens: tuple[tuple[SensitiveToken, ...], ...] = field(repr=False)
    vectors: Embeddings = field(repr=False)

    def evidence(self, pairs: ContrastPairs, make_swaps: Callable[[], ContrastPairs] | None = None) -> Evidence:
        """Return what a shape is learned from."""
        return Evidence(pairs, lambda: self.embeddings, self.attacker, make_swaps)

    @cached_property
    def embeddings(self) -> LabeledEmbeddings:
        """The vectors with the sensitive words of their texts."""
        words = tuple(tuple(token.word for token in tokens) for tokens in self.tokens)
        return LabeledEmbeddings(vectors=self.vectors, words=words)

    def attacker(self, attack: str, settings: Mapping[str, Any], rng: np.random.Generator) -> CorpusAttacker:
        """Return an attacker on these texts; `rng` chooses the rows that are held out."""
        private = np.array([bool(tokens) for tokens in self.tokens])
        held_out: list[int] = []
        for rows in (np.flatnonzero(private), np.flatnonzero(~private)):
            held_out += rng.permutation(rows)[: round(HELD_OUT * rows.size)].tolist()
        return CorpusAttacker(attack=build_attack(attack, settings), texts=self, held_out=tuple(held_out))


@dataclass(frozen=True, kw_only=True, eq=False)
class CorpusAttacker:
    """An attack that can be trained on any release of one corpus.

    Attributes:
        attack: How it learns.
        texts: The corpus, with what is private in it.
        held_out: Rows that it is stopped by and not trained on.
    """

    attack: Attack
    texts: LabeledTexts
    held_out: tuple[int, ...] = field(repr=False)

    def train(
        self, vectors: Embeddings, rng: np.random.Generator, *, progress: Progress = silent
    ) -> DifferentiableAttack:
        """Return the attack as trained on `vectors`, a release of the corpus."""
        sample = Sample(vectors=vectors, texts=self.texts.texts, tokens=self.texts.tokens)
        kept: NDArray[np.intp] = np.setdiff1d(np.arange(len(sample)), self.held_out)
        trained = self.attack.train(TrainingRun(sample.rows(kept), sample.rows(self.held_out), rng, progress=progress))
        if not isinstance(trained, DifferentiableAttack):
            raise InvalidInputError(
                f"a shape can't be learned through {type(self.attack).__name__}: what it trains has no network with "
                "one output per sensitive word; use the attack 'mlc'"
            )
        return trained


def swap_pairs(
    corpus: Sequence[Passage], found: Sequence[Spans], embed: Callable[[Sequence[str]], Embeddings]
) -> ContrastPairs:
    """Return texts with private values, and the same texts with other values of the corpus in their place.

    Args:
        corpus: The texts.
        found: Where private values stand in each. One of a category with no other value stays as it is.
        embed: Makes vectors.
    """
    surfaces = {label: forms for label, forms in collect_surfaces(corpus, found).items() if len(forms) > 1}
    swappable = [tuple(span for span in spans if span.label in surfaces) for spans in found]
    rows = [row for row, spans in enumerate(swappable) if spans]
    if not rows:
        raise InvalidInputError("no private value has another of its category in the corpus that it can be swapped for")
    rows = [rows[number] for number in spread_rows(len(rows), MOST_SWAPS)]
    rng, times = np.random.default_rng(0), min(MOST_SWAPS_OF_A_TEXT, MOST_SWAPS // len(rows))
    swapped = [replace_spans(corpus[row].text, swappable[row], surfaces, rng) for row in rows for _ in range(times)]
    return ContrastPairs(np.repeat(embed([corpus[row].text for row in rows]), times, axis=0), embed(swapped))


def corpus_evidence(
    corpus: Sequence[Passage],
    contrast: ContrastSet,
    embedder: Embedder,
    *,
    rewritten: Mapping[int, str] | None = None,
    progress: Progress = silent,
) -> Evidence:
    """Return the evidence of a corpus: its texts as the model reads them, with the words that stood there.

    Contrast pairs are of the texts as they came. Texts without the concept are embedded when a learner first asks for
    them.

    Args:
        corpus: Every text; blank ones are left out.
        contrast: Where the concept stands in them, and the same texts without it.
        embedder: Makes the vectors.
        rewritten: Texts in which private words are replaced before the model reads them, by row; None where they stay.
        progress: Told how far the embedding is.
    """
    pairs = ContrastPairs(
        embed_texts(embedder, contrast.with_concept, label="embedding with the concept", progress=progress),
        embed_texts(embedder, contrast.without_concept, label="embedding without it", progress=progress),
    )
    labeled: list[LabeledTexts] = []

    def label_texts() -> LabeledTexts:
        if not labeled:
            private = set(contrast.rows)
            others = [row for row, passage in enumerate(corpus) if row not in private and passage.text.strip()]
            rows = [*contrast.rows, *others]
            known = {
                **dict(zip(contrast.with_concept, pairs.with_concept, strict=True)),
                **dict(zip(contrast.without_concept, pairs.without_concept, strict=True)),
            }
            read = [(rewritten or {}).get(row, corpus[row].text) for row in rows]
            new = list(dict.fromkeys(text for text in read if text not in known))
            vectors = embed_texts(embedder, new, label="embedding the other texts", progress=progress)
            known |= dict(zip(new, vectors, strict=True))
            labeled.append(
                LabeledTexts(
                    texts=tuple(corpus[row].text for row in rows),
                    tokens=tuple(sensitive_tokens(corpus[row].text, contrast.spans[row]) for row in rows),
                    vectors=np.stack([known[text] for text in read]),
                )
            )
        return labeled[0]

    def swap() -> ContrastPairs:
        return swap_pairs(
            corpus,
            contrast.spans,
            lambda texts: embed_texts(embedder, texts, label="embedding with other values", progress=progress),
        )

    return Evidence(
        pairs,
        lambda: label_texts().embeddings,
        lambda attack, settings, rng: label_texts().attacker(attack, settings, rng),
        swap,
    )
