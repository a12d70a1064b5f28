"""Which sensitive words are in which text, as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vecveil.attacks.attack import Sample
from vecveil.core.arrays import Matrix, Vector

Flags: TypeAlias = NDArray[np.bool_]


def present(sample: Sample, vocabulary: Sequence[str]) -> Flags:
    """Return one row per text, one column per word: whether it is among the text's sensitive tokens."""
    columns = {word: column for column, word in enumerate(vocabulary)}
    flags = np.zeros((len(sample), len(columns)), dtype=bool)
    for row, tokens in enumerate(sample.tokens):
        flags[row, [columns[token.word] for token in tokens if token.word in columns]] = True
    return flags


def known_scores(scores: Matrix, vocabulary: Sequence[str], sample: Sample) -> tuple[Vector, ...]:
    """Return, for each row, the scores of its true tokens; 0 for a word that is not in the vocabulary."""
    columns = {word: column for column, word in enumerate(vocabulary)}
    return tuple(
        np.array([row[columns[token.word]] if token.word in columns else 0.0 for token in tokens])
        for row, tokens in zip(scores, sample.tokens, strict=True)
    )
