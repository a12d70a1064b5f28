"""Sources of clean vectors: a model here, or a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import json_digest
from vecveil.core.errors import VecveilError
from vecveil.embedders import Embedder
from vecveil.service.messages import LONGEST_TEXT, RefusedError, check_text, invalid
from vecveil.service.turns import ClientTurns
from vecveil.veil.embedding import embed_texts
from vecveil.veil.release import digest_contents

TABLE_SECONDS = 20.0
"""Time to wait for the table of an encoding, which is fetched from the network once."""

PART_CHARACTERS = 200_000
"""Most of a request that a model reads before it is another client's turn."""


@dataclass(frozen=True, kw_only=True)
class CleanVectors:
    """Clean vectors of some inputs.

    Attributes:
        vectors: One row per input.
        contents: A digest of each input, by which the ledger knows it.
        tokens: How many tokens the model read.
        words: How many private values were replaced in each input before the model read it; None where they stayed.
    """

    vectors: Embeddings
    contents: Sequence[bytes]
    tokens: int
    words: Sequence[int] | None = None


class Upstream(Protocol):
    """A model behind the gateway."""

    async def embed(self, inputs: list[str] | list[list[int]], *, client: str = "") -> CleanVectors:
        """Return the vectors of texts, or of arrays of tokens, for a client.

        Raises:
            RefusedError: If it can't, in words for the client.
        """
        ...

    async def close(self) -> None:
        """Close connections and threads."""
        ...


def digest_inputs(inputs: list[str] | list[list[int]]) -> list[bytes]:
    """Return a digest of each input."""
    texts = [one if isinstance(one, str) else json_digest({"tokens": one}) for one in inputs]
    return digest_contents(texts)


class LocalUpstream:
    """Embeds texts with a model that is loaded here, a part of a request at a time, for one client after the other.

    Args:
        model: The veil's model.
        tokens: Turns arrays of tokens into texts.
    """

    def __init__(self, model: Embedder, tokens: TokenReader) -> None:
        self._model, self._tokens = model, tokens
        # Models use all cores by themselves, and are not made to be called by two threads at once.
        self._turns = ClientTurns("model", characters=PART_CHARACTERS)

    async def embed(self, inputs: list[str] | list[list[int]], *, client: str = "") -> CleanVectors:
        """Return the vectors of texts, or of arrays of tokens that are turned into texts first."""
        parts = await self._turns.run(self._embed, inputs, client=client)
        return CleanVectors(
            vectors=np.concatenate([part.vectors for part in parts]),
            contents=[content for part in parts for content in part.contents],
            tokens=sum(part.tokens for part in parts),
        )

    async def close(self) -> None:
        """Let the thread end."""
        self._turns.close()

    def _embed(self, inputs: list[str] | list[list[int]]) -> CleanVectors:
        texts = [one if isinstance(one, str) else self._tokens.decode(one) for one in inputs]
        try:
            vectors = embed_texts(self._model, texts)
        except VecveilError:
            # The message may hold parts of a text.
            raise RefusedError(502, "the model could not embed the input", code="model_error") from None
        return CleanVectors(vectors=vectors, contents=digest_inputs(texts), tokens=self._count_tokens(texts))

    def _count_tokens(self, texts: list[str]) -> int:
        tokenizer = getattr(getattr(self._model, "pipeline", None), "tokenizer", None)
        if tokenizer is None:
            return sum(len(text.split()) for text in texts)
        return sum(map(len, tokenizer(texts, add_special_tokens=True, truncation=True)["input_ids"]))


class TokenReader:
    """Turns arrays of tokens into texts.

    Args:
        encoding: Name of their encoding in tiktoken.
        longest_text: Characters of a text at most.
    """

    def __init__(self, encoding: str, *, longest_text: int = LONGEST_TEXT) -> None:
        self._name, self._longest_text = encoding, longest_text

    def decode(self, tokens: list[int]) -> str:
        """Return the text of some tokens.

        Raises:
            RefusedError: If they are no tokens or no text, or the table of the encoding is not available.
        """
        if self._encoding is None:
            message = f"the gateway could not get the table of {self._name} to read tokens by: send texts"
            raise RefusedError(400, message, param="input", code="tokens_unsupported")
        try:
            text: str = self._encoding.decode(tokens)
        except (KeyError, ValueError, OverflowError):
            raise invalid("input", "input holds tokens that are none") from None
        check_text(text, longest=self._longest_text)
        return text

    @cached_property
    def _encoding(self) -> Any:
        """The table, or None where it is not available; tried once, since the model waits meanwhile."""
        import tiktoken

        thread = ThreadPoolExecutor(1, thread_name_prefix="tokens")
        try:
            return thread.submit(tiktoken.get_encoding, self._name).result(TABLE_SECONDS)
        except Exception:  # noqa: BLE001  # networks fail in as many ways as there are networks
            return None
        finally:
            thread.shutdown(wait=False)
