"""Training sets of texts, for networks that predict each next piece."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from vecveil.attacks.generation.tokenizer import TextTokenizer
from vecveil.attacks.training import Rows
from vecveil.core.errors import VecveilWarning

Condition: TypeAlias = Callable[[Rows], tuple[torch.Tensor, ...]]
"""The inputs of a network beside the text itself, such as its vector, for the texts with these numbers."""

EVALUATION_BATCH = 256

CUT_SHARE = 0.05
"""Share of cut texts above which a warning is due."""

WINDOW = 50
"""Batches whose rows are sorted by length together: less padding, and still a mixed order."""


class TokenRows:
    """The pieces of many texts, from which any rows can be taken as a block, filled up with `padding`."""

    def __init__(self, pieces: Sequence[Sequence[int]], *, padding: int) -> None:
        self.lengths = np.array([len(row) for row in pieces], dtype=np.intp)
        self._pieces = [torch.tensor(row) for row in pieces]
        self._padding = padding

    def block(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the pieces of these rows, padded to the longest of them, and which of them are real."""
        pieces = pad_sequence([self._pieces[row] for row in rows], batch_first=True, padding_value=self._padding)
        return pieces, torch.arange(pieces.shape[1]) < torch.from_numpy(self.lengths[rows])[:, None]


def tokenize(texts: Sequence[str], tokenizer: TextTokenizer, *, longest: int, warn: bool = False) -> TokenRows:
    """Return the pieces of `texts`, cut to `longest`; `warn` where many are cut, since the attack then looks weak."""
    pieces = tokenizer.encode(texts, longest=longest)
    cut = sum(row[-1] != tokenizer.end for row in pieces)
    if warn and cut > CUT_SHARE * len(pieces):
        warnings.warn(
            f"{cut:,} of {len(pieces):,} texts have more than {longest - 1} pieces and are cut there: what follows is "
            "out of this attack's reach, so raise max_tokens or split the texts",
            VecveilWarning,
            stacklevel=2,
        )
    return TokenRows(pieces, padding=tokenizer.padding)


def bucket_batches(
    lengths: NDArray[np.intp], batch_size: int, rng: np.random.Generator
) -> Callable[[int], Sequence[Rows]]:
    """Return the function that cuts a new order of the rows into batches of like length for each epoch."""
    seed = int(rng.integers(2**62))

    def cut_epoch(epoch: int) -> Sequence[Rows]:
        order_rng = np.random.default_rng((seed, epoch))
        order = order_rng.permutation(lengths.size)
        batches: list[Rows] = []
        for start in range(0, lengths.size, WINDOW * batch_size):
            window = order[start : start + WINDOW * batch_size]
            window = window[np.argsort(lengths[window], kind="stable")]
            batches += np.array_split(window, range(batch_size, window.size, batch_size))
        return [batches[place] for place in order_rng.permutation(len(batches))]

    return cut_epoch


def sort_batches(lengths: NDArray[np.intp], batch_size: int) -> list[Rows]:
    """Return batches of all rows from the shortest to the longest, where the order does not matter."""
    order = np.argsort(lengths, kind="stable")
    return np.array_split(order, range(batch_size, order.size, batch_size))


def vector_condition(vectors: torch.Tensor, *, noise: float = 0.0) -> Condition:
    """Return the condition of vectors alone, each time with fresh noise of `noise` times their mean length."""
    scale = noise and noise * float(vectors.norm(dim=1).mean()) / vectors.shape[1] ** 0.5

    def take_rows(rows: Rows) -> tuple[torch.Tensor, ...]:
        chosen = vectors[rows]
        return (chosen + scale * torch.randn_like(chosen),) if scale else (chosen,)

    return take_rows


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingSet:
    """Texts that a network learns, or is evaluated on.

    Attributes:
        texts: Their pieces.
        condition: The inputs of the network beside them.
    """

    texts: TokenRows
    condition: Condition

    def loss(self, network: torch.nn.Module, rows: Rows, *, reduction: str = "mean") -> torch.Tensor:
        """Return the cross-entropy of the pieces of these rows."""
        pieces, real = self.texts.block(rows)
        with use_bfloat16():
            logits: torch.Tensor = network(pieces, real, *self.condition(rows))
            # A copy in full precision would take a sixth of a step; only what is compared needs it.
            return cross_entropy(logits if network.training else logits.float(), pieces[real], reduction=reduction)

    def mean_loss(self, network: torch.nn.Module) -> float:
        """Return the cross-entropy per piece over all texts, in nats."""
        batches = sort_batches(self.texts.lengths, EVALUATION_BATCH)
        total = sum(float(self.loss(network, rows, reduction="sum")) for rows in batches)
        return total / float(self.texts.lengths.sum())


def set_dropout(network: torch.nn.Module, share: float) -> None:
    """Set every dropout layer, and the dropout inside the attention of a T5, which is a bare number."""
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
        elif isinstance(getattr(module, "dropout", None), float):
            vars(module)["dropout"] = share


def use_bfloat16() -> AbstractContextManager[Any]:
    """Return the context in which products are taken in bfloat16, where the processor has instructions for it."""
    # Older versions of torch can't tell.
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=bool(capabilities.get("avx512_bf16")))
