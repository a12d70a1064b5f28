"""Tokenised texts, laid out for batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.attacks.training.loop import Rows
from vecveil.core.errors import VecveilWarning

CUT_SHARE = 0.05
"""Share of cut texts from which a warning is due."""

WINDOW = 50
"""Batches whose rows are sorted by length together: less padding, and still a mixed order."""


class TokenRows:
    """The pieces of many texts, one after the other, from which any rows can be taken as a padded block.

    Args:
        pieces: The pieces of each text; none may be empty.
        padding: What shorter rows of a block are filled up with.
    """

    def __init__(self, pieces: Sequence[Sequence[int]], *, padding: int) -> None:
        self.padding = padding
        self.lengths = np.array([len(row) for row in pieces], dtype=np.intp)
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.intp)
        self._flat = np.concatenate([np.asarray(row, dtype=np.int64) for row in pieces])

    def __len__(self) -> int:
        return int(self.lengths.size)

    def block(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the pieces of these rows, padded to the longest of them, and which of them are real."""
        lengths = self.lengths[rows]
        places = np.arange(lengths.max())
        real = places < lengths[:, None]
        pieces = np.full(real.shape, self.padding, dtype=np.int64)
        pieces[real] = self._flat[(self._starts[rows][:, None] + places)[real]]
        return torch.from_numpy(pieces), torch.from_numpy(real)


def tokenised(texts: Sequence[str], tokeniser: Tokeniser, *, longest: int, warn: bool = False) -> TokenRows:
    """Return the pieces of `texts`, cut to `longest`; warn, if asked to, where many are cut: the attack looks weak."""
    pieces = tokeniser.encode(texts, longest=longest)
    cut = sum(row[-1] != tokeniser.end for row in pieces)
    if warn and cut > CUT_SHARE * len(pieces):
        warnings.warn(
            f"{cut:,} of {len(pieces):,} texts have more than {longest - 1} pieces and are cut there: what follows is "
            "out of this attack's reach, so raise max_tokens or split the texts",
            VecveilWarning,
            stacklevel=2,
        )
    return TokenRows(pieces, padding=tokeniser.padding)


def bucketed_batches(
    lengths: NDArray[np.intp], batch_size: int, rng: np.random.Generator
) -> Callable[[int], Sequence[Rows]]:
    """Return the function that cuts a new order of the rows into batches of like length for each epoch."""
    seed = int(rng.integers(2**62))

    def batches(epoch: int) -> Sequence[Rows]:
        order_rng = np.random.default_rng((seed, epoch))
        order = order_rng.permutation(lengths.size)
        found: list[Rows] = []
        for start in range(0, lengths.size, WINDOW * batch_size):
            window = order[start : start + WINDOW * batch_size]
            window = window[np.argsort(lengths[window], kind="stable")]
            found += np.array_split(window, range(batch_size, window.size, batch_size))
        return [found[place] for place in order_rng.permutation(len(found))]

    return batches


def by_length(lengths: NDArray[np.intp], batch_size: int) -> list[Rows]:
    """Return batches of all rows from the shortest to the longest, for work in which the order does not matter."""
    order = np.argsort(lengths, kind="stable")
    return np.array_split(order, range(batch_size, order.size, batch_size))
