"""Guesses at texts: what the corrector starts from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from vecveil.attacks.generation.conditions import tensor
from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.attacks.training.loop import Rows
from vecveil.core.arrays import Embeddings, Vector

if TYPE_CHECKING:
    import torch

    from vecveil.attacks.generation.teaching import Condition

Embed: TypeAlias = Callable[[Sequence[str]], Embeddings]
"""Texts to clean vectors: what someone with access to the model can do."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Guesses:
    """One guess at the text of each vector, with where it landed.

    Attributes:
        texts: The guesses.
        vectors: Their clean embeddings.
        nearness: Cosine of each guess's embedding to the vector that it is a guess at.
        tokeniser: Cuts the guesses into pieces for the corrector.
        longest: Most pieces of a guess.
    """

    texts: tuple[str, ...]
    vectors: Embeddings
    nearness: Vector
    tokeniser: Tokeniser
    longest: int

    def condition(self, targets: torch.Tensor) -> Callable[[Rows], Condition]:
        """Return the function that gives what the corrector sees of some rows."""
        from vecveil.attacks.generation.token_rows import TokenRows

        pieces = TokenRows(self.tokeniser.encode(self.texts, longest=self.longest), padding=self.tokeniser.padding)
        vectors = tensor(self.vectors)

        def taken(rows: Rows) -> Condition:
            return targets[rows], vectors[rows], *pieces.block(rows)

        return taken


def embedded_guesses(
    texts: Sequence[str], targets: Embeddings, embed: Embed, tokeniser: Tokeniser, *, longest: int
) -> Guesses:
    """Return `texts` as guesses at the texts of `targets`."""
    # An embedder takes no empty text, and an attack that has nothing to say has guessed nothing.
    vectors = np.asarray(embed([text or "." for text in texts]))
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(targets, axis=1)
    nearness = np.sum(vectors * targets, axis=1, dtype=np.float64) / lengths
    return Guesses(texts=tuple(texts), vectors=vectors, nearness=nearness, tokeniser=tokeniser, longest=longest)


def nearer(one: Guesses, other: Guesses) -> Guesses:
    """Return, row by row, the guess that landed nearer to its vector; the first of two that landed alike."""
    better = other.nearness > one.nearness
    texts = (new if wins else old for old, new, wins in zip(one.texts, other.texts, better, strict=True))
    return Guesses(
        texts=tuple(texts),
        vectors=np.where(better[:, None], other.vectors, one.vectors),
        nearness=np.maximum(one.nearness, other.nearness),
        tokeniser=one.tokeniser,
        longest=one.longest,
    )
