"""Where the gateway gets clean vectors from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import json_digest, text_digest


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Clean vectors of some inputs.

    Attributes:
        vectors: One row per input.
        contents: A digest of each input, by which the ledger knows it.
        seen: Digests of what keyed noise depends on.
        tokens: How many tokens the model read.
    """

    vectors: Embeddings
    contents: Sequence[bytes]
    seen: Sequence[bytes]
    tokens: int


class Upstream(Protocol):
    """A model behind the gateway."""

    async def embed(self, inputs: list[str] | list[list[int]]) -> Answer:
        """Return the vectors of texts, or of arrays of tokens.

        Raises:
            RefusedError: If it can't, in words for the client.
        """
        ...

    async def close(self) -> None:
        """Give back what it holds."""
        ...


def contents_of(inputs: list[str] | list[list[int]]) -> list[bytes]:
    """Return a digest of each input."""
    return [text_digest(one) if isinstance(one, str) else bytes.fromhex(json_digest({"tokens": one})) for one in inputs]
