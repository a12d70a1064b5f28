"""Texts of three words each, whose vectors are easy to read: what a working attack must be able to read back."""

from __future__ import annotations

from itertools import product

import numpy as np

from support.embedders import WordEmbedder
from vecveil.attacks import Recovery, Sample
from vecveil.concepts import SensitiveToken

NAMES = ("anna", "boris", "clara", "denis", "emma", "felix")
VERBS = ("visits", "leaves", "sees")
CITIES = ("rome", "oslo", "lima", "cairo", "paris", "quito")


def travel_notes(*, shuffled: bool = False) -> tuple[Sample, Sample, Sample]:
    """Return training, held-out and test texts with their vectors; those of shuffled ones belong to other texts."""
    rng = np.random.default_rng(0)
    texts = [" ".join(words) for words in product(NAMES, VERBS, CITIES)]
    texts = [texts[row] for row in rng.permutation(len(texts))]
    vectors = WordEmbedder().embed(texts)
    whole = Sample(
        vectors=vectors[rng.permutation(len(texts))] if shuffled else vectors,
        texts=tuple(texts),
        tokens=tuple(
            (SensitiveToken(name, "PERSON"), SensitiveToken(city, "GPE")) for name, _, city in map(str.split, texts)
        ),
    )
    return whole.rows(range(80)), whole.rows(range(80, 92)), whole.rows(range(92, 108))


def leakage(recovery: Recovery, sample: Sample) -> float:
    """Return the share of the sensitive tokens that are among the words that were read."""
    pairs = zip(recovery.words, sample.tokens, strict=True)
    return float(np.mean([token.word in read for read, tokens in pairs for token in tokens]))
