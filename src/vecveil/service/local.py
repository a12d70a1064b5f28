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
from vecveil.veil.records import seen_contents


class LocalUpstream:
    """Embeds texts with a model that was loaded here.

    Args:
        model: The veil's model.
        keyed: Whether noise depends on what the model sees. Each text is embedded by itself then, so that it comes out
            the same in any batch.
        decode: Turns arrays of tokens into texts.
    """

    def __init__(self, model: Embedder, *, keyed: bool, decode: Callable[[list[int]], str]) -> None:
        self._model, self._keyed, self._decode = model, keyed, decode
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
            vectors = embed_texts(self._model, texts, alone=self._keyed)
        except VecveilError:
            # What it says may hold parts of a text.
            raise RefusedError(500, "the model could not embed the input", code="model_error") from None
        contents = contents_of(texts)
        return Answer(
            vectors=vectors,
            contents=contents,
            seen=seen_contents(self._model, texts, vectors) if self._keyed else contents,
            tokens=self._tokens(texts),
        )

    def _text(self, tokens: list[int]) -> str:
        text = self._decode(tokens)
        if not text.strip():
            raise RefusedError(400, "input must not hold an empty text", param="input", code="invalid_value")
        return text

    def _tokens(self, texts: list[str]) -> int:
        tokeniser = getattr(getattr(self._model, "pipeline", None), "tokenizer", None)
        if tokeniser is None:
            return sum(len(text.split()) for text in texts)
        return sum(map(len, tokeniser(texts, add_special_tokens=True, truncation=True)["input_ids"]))
