"""Protection on an event loop, around models that are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.veil import Guard

AsyncEmbed = Callable[[list[str]], Awaitable[Any]]
"""The veil's model, called elsewhere: texts in, one vector for each out."""


async def protect_texts(guard: Guard, texts: list[str], embed: AsyncEmbed | None) -> NDArray[Any]:
    """Return protected vectors of texts as `Guard.protect_texts` does; no thread waits while the model works."""
    if embed is None:
        return await asyncio.to_thread(guard.protect_texts, texts)
    rewritten = await asyncio.to_thread(guard.release.rewrite, texts)
    vectors = np.asarray(await embed(rewritten.texts))
    return await asyncio.to_thread(guard.protect_embedded, texts, vectors, words=rewritten.words)


async def protect_queries(guard: Guard, texts: list[str], embed: AsyncEmbed | None) -> NDArray[Any]:
    """Return protected vectors of queries as `Guard.protect_queries` does."""
    if embed is None:
        return await asyncio.to_thread(guard.protect_queries, texts)
    return await asyncio.to_thread(guard.protect_embedded, texts, np.asarray(await embed(texts)))
