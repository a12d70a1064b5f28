"""The veil's model as a framework calls it, or awaits it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from vecveil.core.arrays import to_lists
from vecveil.veil import Guard
from vecveil.veil.seal import Hit, is_sealed


@dataclass(frozen=True)
class FrameworkModel:
    """Protects and reranks as a guard does, with a framework's model: no thread waits while that is awaited.

    Attributes:
        guard: The veil, its budget, its key and its ledger.
        embed_query: Returns the vector of a query; the veil loads its model itself where this and the others are None.
        embed_texts: Returns a vector for each of some texts.
        await_query: The same as `embed_query`, awaited.
        await_texts: The same as `embed_texts`, awaited.
    """

    guard: Guard
    embed_query: Callable[[str], Any] | None = None
    embed_texts: Callable[[list[str]], Any] | None = None
    await_query: Callable[[str], Awaitable[Any]] | None = None
    await_texts: Callable[[list[str]], Awaitable[Any]] | None = None

    def __post_init__(self) -> None:
        if self.embed_texts is not None:
            self.guard.require_same_model(self.embed_texts)

    def protect_texts(self, texts: list[str]) -> list[list[float]]:
        """Return protected vectors of texts as `Guard.protect_texts` does."""
        return to_lists(self.guard.protect_texts(texts, embed=self.embed_texts))

    async def protect_texts_awaited(self, texts: list[str]) -> list[list[float]]:
        """Return what `protect_texts` does."""
        if self.await_texts is None:
            return await asyncio.to_thread(self.protect_texts, texts)
        rewritten = await asyncio.to_thread(self.guard.release.rewrite, texts)
        vectors = np.asarray(await self.await_texts(rewritten.texts))
        return to_lists(await asyncio.to_thread(self.guard.protect_embedded, texts, vectors, words=rewritten.words))

    def protect_query(self, query: str) -> list[float]:
        """Return the protected vector of a query as `Guard.protect_queries` does."""
        if self.embed_query is None:
            return to_lists(self.guard.protect_queries([query]))[0]
        return to_lists(self.guard.protect_embedded([query], np.asarray([self.embed_query(query)])))[0]

    async def protect_query_awaited(self, query: str) -> list[float]:
        """Return what `protect_query` does."""
        if self.await_query is None:
            return await asyncio.to_thread(self.protect_query, query)
        vectors = np.asarray([await self.await_query(query)])
        return to_lists(await asyncio.to_thread(self.guard.protect_embedded, [query], vectors))[0]

    def rerank(self, query: str, ids: Sequence[Any], candidates: Sequence[bytes | str], *, top: int) -> list[Hit]:
        """Return candidates, seals or texts, in their exact order as `Guard.rerank` does."""
        asked = query if self.embed_query is None else np.asarray(self.embed_query(query))
        return self.guard.rerank(asked, ids, candidates, embed=self.embed_texts, top=top)

    async def rerank_awaited(
        self, query: str, ids: Sequence[Any], candidates: Sequence[bytes | str], *, top: int
    ) -> list[Hit]:
        """Return what `rerank` does."""
        if self.await_query is None or self.await_texts is None:
            return await asyncio.to_thread(partial(self.rerank, query, ids, candidates, top=top))
        asked = np.asarray(await self.await_query(query))
        texts = [str(one) for one in candidates if not is_sealed(one)]
        embedded = np.asarray(await self.await_texts(texts)) if texts else np.empty((0, self.guard.dimensions))
        return await asyncio.to_thread(self.guard.rerank, asked, ids, candidates, embed=lambda _: embedded, top=top)
