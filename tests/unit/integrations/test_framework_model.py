"""A framework's model, called or awaited: the same order as with the veil's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.guards import TEXTS
from vecveil.integrations.framework_model import FrameworkModel
from vecveil.veil import Guard
from vecveil.veil.seal import write_as_text

IDS = ["a", "b", "c"]


async def test_a_model_that_is_awaited_gives_the_same_order(guard: Guard) -> None:
    asked: list[list[str]] = []
    seals = [write_as_text(one) for one in guard.seal_texts(TEXTS, IDS)]

    async def embed(texts: list[str]) -> Any:
        asked.append(texts)
        return guard.model.embed(texts)

    async def embed_query(query: str) -> Any:
        return (await embed([query]))[0]

    model = FrameworkModel(guard, await_query=embed_query, await_texts=embed)

    for candidates in (TEXTS, seals, [seals[0], *TEXTS[1:]]):
        expected = guard.rerank("rain", IDS, candidates, top=2)
        found = await model.rerank_awaited("rain", IDS, candidates, top=2)
        assert [(hit.id, hit.row) for hit in found] == [(hit.id, hit.row) for hit in expected]
        assert np.allclose([hit.similarity for hit in found], [hit.similarity for hit in expected], atol=1e-6)
        assert await FrameworkModel(guard).rerank_awaited("rain", IDS, candidates, top=2) == expected
    assert asked == [["rain"], TEXTS, ["rain"], ["rain"], TEXTS[1:]]
