"""Candidates of frameworks, reranked on the owner's side."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vecveil.core.errors import InvalidRowError
from vecveil.integrations.awaiting import AsyncEmbed
from vecveil.veil import Guard
from vecveil.veil.seal import SEAL, Hit, is_sealed, require_candidates

CANDIDATES, TOP = 100, 10
"""How many are fetched, and how many of them come back, where nobody says."""


def read_candidates(
    fields: Sequence[Mapping[str, Any] | None], texts: Sequence[str | None], *, seal_field: str = SEAL
) -> list[bytes | str]:
    """Return what each candidate is compared by: its seal where one of its fields holds that, or else its text.

    Args:
        fields: The fields that the store keeps of each candidate.
        texts: Their texts, where the store keeps them.
        seal_field: The field that holds a seal.
    """
    found: list[Any] = []
    for row, (kept, text) in enumerate(zip(fields, texts, strict=True)):
        seal = (kept or {}).get(seal_field)
        if seal is not None and not is_sealed(seal):
            raise InvalidRowError(row, f"has something else than a seal in its field {seal_field!r}")
        found.append(text if seal is None else seal)
    return require_candidates(found)


def drop_seal(fields: Mapping[str, Any], *, seal_field: str = SEAL) -> dict[str, Any]:
    """Return the fields of a candidate without its seal, which is of no use behind the reranking."""
    return {name: value for name, value in fields.items() if name != seal_field}


async def rerank_awaited(
    guard: Guard,
    query: str,
    ids: Sequence[Any],
    candidates: Sequence[bytes | str],
    *,
    embed_query: AsyncEmbed | None = None,
    embed_texts: AsyncEmbed | None = None,
    top: int,
) -> list[Hit]:
    """Return candidates in their exact order as `Guard.rerank` does; no thread waits while a model elsewhere works.

    Args:
        guard: The veil, and the key of its seals.
        query: What was searched for.
        ids: Ids of the candidates.
        candidates: Their seals or texts.
        embed_query: The veil's model for queries, called elsewhere; loaded here where None.
        embed_texts: The same for texts.
        top: How many to return.
    """
    if embed_query is None or embed_texts is None:
        return await asyncio.to_thread(guard.rerank, query, ids, candidates, top=top)
    asked = np.asarray((await embed_query([query]))[0])
    texts = [str(one) for one in candidates if not is_sealed(one)]
    embedded = np.asarray(await embed_texts(texts)) if texts else np.empty((0, guard.dimensions))
    return await asyncio.to_thread(guard.rerank, asked, ids, candidates, embed=lambda _: embedded, top=top)
