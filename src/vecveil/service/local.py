"""A model in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from vecveil.core.errors import VecveilError
from vecveil.embedders import Embedder
from vecveil.service.refusal import RefusedError
from vecveil.service.upstream import Answer, contents_of
from vecveil.veil.embedding import embed_texts
from vecveil.veil.records import vectors_are_pinned

NO_TOKENS = "tokens_unsupported"


class LocalUpstream:
    """Embeds texts with a model that was loaded here.

    Args:
        model: The veil's model.
        alone: Whether each text is embedded by itself, so that keyed noise comes out the same in any batch.
        decode: Turns arrays of tokens into texts; None to refuse them.
    """

    def __init__(self, model: Embedder, *, alone: bool, decode: Callable[[list[int]], str] | None) -> None:
        self._model, self._alone, self._decode = model, alone, decode
        # Models use all cores by themselves, and are not made to be called by two threads at once.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="model")

    async def embed(self, inputs: list[str] | list[list[int]]) -> Answer:
        """Return the vectors of texts, or of arrays of tokens that are turned into texts first."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._embedded, inputs)

    async def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embedded(self, inputs: list[str] | list[list[int]]) -> Answer:
        texts = [one if isinstance(one, str) else self._text(one) for one in inputs]
        try:
            vectors = embed_texts(self._model, texts, alone=self._alone)
        except VecveilError:
            # What it says may hold parts of a text.
            raise RefusedError(500, "the model could not embed the input", code="model_error") from None
        return Answer(
            vectors=vectors,
            contents=contents_of(texts),
            pinned=vectors_are_pinned(self._model),
            tokens=self._tokens(texts),
        )

    def _text(self, tokens: list[int]) -> str:
        if self._decode is None:
            raise RefusedError(
                400, "this gateway takes texts, not arrays of tokens", param="input", code="invalid_value"
            )
        text = self._decode(tokens)
        if not text.strip():
            raise RefusedError(400, "input must not hold an empty text", param="input", code="invalid_value")
        return text

    def _tokens(self, texts: list[str]) -> int:
        tokeniser = getattr(getattr(self._model, "pipeline", None), "tokenizer", None)
        if tokeniser is None:
            return sum(len(text.split()) for text in texts)
        return sum(map(len, tokeniser(texts, add_special_tokens=True, truncation=True)["input_ids"]))


def tiktoken_decoder(encoding: str) -> Callable[[list[int]], str]:
    """Return what turns arrays of tokens of that encoding into texts; its table is loaded when it is first used."""

    def decode(tokens: list[int]) -> str:
        import tiktoken

        try:
            return tiktoken.get_encoding(encoding).decode(tokens)
        except (KeyError, ValueError, OverflowError):
            raise RefusedError(400, "input holds tokens that are none", param="input", code="invalid_value") from None
        except Exception as error:
            # The table is fetched from the network, which fails in as many ways as networks do.
            why = f"the gateway can't get the table of {encoding} to read tokens by: send texts"
            raise RefusedError(400, why, param="input", code=NO_TOKENS) from error

    return decode
