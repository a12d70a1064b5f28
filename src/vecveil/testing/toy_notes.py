"""Short notes with private words, and vectors easy to read."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vecveil.attacks import Recovery, Sample
from vecveil.concepts import SensitiveToken
from vecveil.core.arrays import Embeddings

DIMENSIONS = 32
TRAINED_ON, HELD_OUT, TESTED = 120, 30, 60

NAMES = ("anna", "boris", "clara", "denis", "emma", "felix")
CITIES = ("cairo", "lima", "oslo", "paris", "quito", "rome")
UNSEEN = "zelda"
"""A name that is in one test note and in no other."""

_SOMEONE, _SOMEWHERE = ("everybody", "somebody"), ("abroad", "home")
_DAYS = ("now", "often", "soon", "today")
_VERBS = ("leaves", "likes", "sees", "visits")
_LABELS = dict.fromkeys((*NAMES, UNSEEN), "PERSON") | dict.fromkeys(CITIES, "GPE")


@dataclass(frozen=True, kw_only=True, eq=False)
class Notes:
    """Notes to train on, to stop by and to test on; no note is in two of them."""

    train: Sample
    held_out: Sample
    test: Sample


def toy_notes(*, unrelated: bool = False) -> Notes:
    """Return notes of four words, of which none, one or two are private.

    Args:
        unrelated: Whether the vectors are random, so that there is nothing to be read.
    """
    rng = np.random.default_rng(0)
    everything = [" ".join(parts) for parts in product(_DAYS, (*NAMES, *_SOMEONE), _VERBS, (*CITIES, *_SOMEWHERE))]
    texts = [everything[row] for row in rng.permutation(len(everything))[: TRAINED_ON + HELD_OUT + TESTED]]
    texts[-1] = f"today {UNSEEN} visits rome"
    vectors = embed_words(texts)
    whole = Sample(
        vectors=rng.standard_normal(vectors.shape).astype(np.float32) if unrelated else vectors,
        texts=tuple(texts),
        tokens=tuple(_tokens(text) for text in texts),
    )
    train, held_out, test = np.split(np.arange(len(texts)), np.cumsum([TRAINED_ON, HELD_OUT]))
    return Notes(train=whole.rows(train), held_out=whole.rows(held_out), test=whole.rows(test))


def embed_words(texts: Sequence[str], *, dimensions: int = DIMENSIONS) -> Embeddings:
    """Return the sum of one direction per word, at length one: what an attack with access to the model can ask for."""
    sums = [np.sum([_direction(word, dimensions) for word in text.split() or [text]], axis=0) for text in texts]
    vectors = np.asarray(sums, dtype=np.float64).reshape(len(texts), dimensions)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def leakage(recovery: Recovery, sample: Sample) -> tuple[float, float]:
    """Return the share of sensitive tokens that were read from their own vectors, and from those of other texts."""
    rows = [row for row, tokens in enumerate(sample.tokens) if tokens]

    def share(shift: int) -> float:
        pairs = zip(rows, np.roll(rows, shift), strict=True)
        hits = [token.word in recovery.words[other] for row, other in pairs for token in sample.tokens[row]]
        return float(np.mean(hits))

    return share(0), float(np.mean([share(shift) for shift in range(1, len(rows))]))


def ranking(recovery: Recovery, sample: Sample) -> float:
    """Return how often a word that is in a text scores above one that isn't, over all texts and words."""
    own = [{token.word for token in tokens} for tokens in sample.tokens]
    there = np.array([[word in words for word in recovery.vocabulary] for words in own])
    true, other = recovery.scores[there][:, None], recovery.scores[~there]
    return float((true > other).mean() + (true == other).mean() / 2)


def _tokens(text: str) -> tuple[SensitiveToken, ...]:
    return tuple(SensitiveToken(word, _LABELS[word]) for word in text.split() if word in _LABELS)


def _direction(word: str, dimensions: int) -> Embeddings:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimensions)
