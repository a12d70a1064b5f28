from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.core.key import Key
from vecveil.ledger import open_ledger
from vecveil.service.clients import Client
from vecveil.service.handler import ClientHandler
from vecveil.service.limits import TextRate
from vecveil.service.messages import EmbeddingRequest, RefusedError
from vecveil.service.release_queue import ReleaseQueue
from vecveil.service.turns import ClientTurns
from vecveil.service.upstream import LocalUpstream, TokenReader
from vecveil.veil import Guard

TEXTS = ["rain again", "a cold day"]


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    return Guard(made_veil(epsilon=50.0), key=Key.new(), ledger=tmp_path / "ledger.sqlite", embedder=WordEmbedder())


def make_handler(guard: Guard, **rules: Any) -> ClientHandler:
    return ClientHandler(
        client=Client(name="one", **rules),
        model="words",
        dimensions=8,
        upstream=LocalUpstream(WordEmbedder(), TokenReader("cl100k_base")),
        documents=ReleaseQueue(guard.release),
        queries=ReleaseQueue(guard.release),
        tokens=TokenReader("cl100k_base"),
        rewriting=ClientTurns("words", characters=1000),
        rate=TextRate(per_minute=2),
    )


async def ask(handler: ClientHandler, model: str, *, texts: Sequence[str] = TEXTS, **more: Any) -> np.ndarray:
    """Return the vectors that a client gets."""
    try:
        request = EmbeddingRequest(input=[*texts], model=model, **more)
        answer = json.loads(await handler.answer(request, handler.side(model)))
    finally:
        await handler.documents.close()
        await handler.queries.close()
        await handler.upstream.close()
    assert answer["model"] == model
    return np.asarray([entry["embedding"] for entry in answer["data"]], dtype=np.float32)


async def test_documents_and_queries_are_told_apart_by_the_models_name(guard: Guard) -> None:
    handler = make_handler(guard)
    assert list(handler.sides) == ["words", "words:document", "words:query"]
    assert handler.side("words") is handler.side("words:document")
    assert handler.side("words").queue is handler.documents
    assert handler.side("words:query").queue is handler.queries
    assert np.array_equal(await ask(handler, "words:query"), guard.protect_texts(TEXTS))


async def test_queries_may_be_clean_and_are_not_recorded_then(guard: Guard) -> None:
    found = await ask(make_handler(guard, queries="clean"), "words:query", dimensions=8)
    assert np.array_equal(found, WordEmbedder().embed(TEXTS))
    assert not Path(str(guard.ledger)).exists()


async def test_documents_are_protected_where_queries_are_clean(guard: Guard) -> None:
    found = await ask(make_handler(guard, queries="clean"), "words")
    assert not np.allclose(found, WordEmbedder().embed(TEXTS), atol=1e-3)
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == 2


@pytest.mark.parametrize(
    ("rules", "refused"),
    [
        ({"documents": "refuse"}, ("words", "words:document")),
        ({"queries": "refuse"}, ("words:query",)),
        ({}, ("other", "words:other", "")),
    ],
)
def test_a_name_that_a_client_may_not_ask_for_does_not_exist(
    guard: Guard, rules: dict[str, Any], refused: tuple[str, ...]
) -> None:
    handler = make_handler(guard, **rules)
    for model in refused:
        with pytest.raises(RefusedError, match="no such model here for this key") as error:
            handler.side(model)
        assert (error.value.status, error.value.param, error.value.code) == (404, "model", "model_not_found")


async def test_another_length_than_the_veils_is_refused_before_anything_is_embedded(guard: Guard) -> None:
    with pytest.raises(RefusedError, match="dimensions must be 8") as refused:
        await ask(make_handler(guard), "words", dimensions=4)
    assert refused.value.param == "dimensions"
    assert not Path(str(guard.ledger)).exists()


async def test_a_large_answer_is_the_same(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.service.handler.MOST_AT_ONCE", 1)
    assert np.array_equal(await ask(make_handler(guard), "words"), guard.protect_texts(TEXTS))


async def test_a_long_text_counts_as_several(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    handler, spent = make_handler(guard), []
    monkeypatch.setattr(handler.rate, "spend", spent.append)
    await ask(handler, "words", texts=["rain " * 2400, "a cold day"])
    assert spent == [3 + 1]


async def test_too_many_texts_are_refused_before_they_are_embedded(guard: Guard) -> None:
    handler = make_handler(guard)
    handler.rate.spend(5)
    with pytest.raises(RefusedError, match="2 texts a minute"):
        await ask(handler, "words")
    assert not Path(str(guard.ledger)).exists()
