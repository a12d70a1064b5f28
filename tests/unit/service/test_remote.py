from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

from support.embedding_server import EmbeddingServer
from support.veils import PRIVATE_WORD
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import EmbedderMismatchError
from vecveil.service.messages import RefusedError
from vecveil.service.remote import RemoteUpstream
from vecveil.service.upstream import digest_inputs

TEXTS = ["rain again", f"she has {PRIVATE_WORD}"]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
async def upstream(server: EmbeddingServer) -> AsyncIterator[RemoteUpstream]:
    found = RemoteUpstream(url=f"{server.base_url}/", model="m", key="secret", check=lambda vectors: vectors)
    yield found
    await found.close()


@pytest.mark.parametrize("knows_base64", [True, False])
async def test_texts_are_passed_on_and_vectors_come_back_in_order(
    upstream: RemoteUpstream, server: EmbeddingServer, knows_base64: bool
) -> None:
    server.knows_base64 = knows_base64
    server.change = lambda answer: {**answer, "data": answer["data"][::-1], "usage": {"prompt_tokens": 7}}
    found = await upstream.embed(TEXTS)
    assert np.array_equal(found.vectors, [server.vector(text) for text in TEXTS])
    assert (found.contents, found.tokens) == (digest_inputs(TEXTS), 7)
    assert server.requests == [{"input": TEXTS, "model": "m", "encoding_format": "base64"}]
    assert server.keys == ["Bearer secret"]


async def test_tokens_stay_tokens(upstream: RemoteUpstream, server: EmbeddingServer) -> None:
    found = await upstream.embed([[1, 2], [3]])
    assert server.requests[0]["input"] == [[1, 2], [3]]
    assert found.contents == digest_inputs([[1, 2], [3]])


async def test_no_key_sends_none(server: EmbeddingServer) -> None:
    upstream = RemoteUpstream(url=server.base_url, model="m", key=None, check=lambda vectors: vectors)
    await upstream.embed(["rain"])
    assert server.keys == [None]
    assert "secret" not in repr(RemoteUpstream(url="x", model="m", key="secret", check=lambda vectors: vectors))
    await upstream.close()


@pytest.mark.parametrize(
    ("status", "translated", "code"),
    [
        (400, 400, None),
        (413, 400, None),
        (422, 400, None),
        (401, 502, "upstream_error"),
        (404, 502, "upstream_error"),
        (429, 429, "rate_limit_exceeded"),
        (500, 502, "upstream_error"),
        (302, 502, "upstream_error"),
    ],
)
async def test_a_refusal_is_translated_without_its_words(
    upstream: RemoteUpstream, server: EmbeddingServer, status: int, translated: int, code: str | None
) -> None:
    server.refusals = [status]
    with pytest.raises(RefusedError) as refused:
        await upstream.embed(TEXTS)
    assert (refused.value.status, refused.value.code) == (translated, code)
    assert PRIVATE_WORD not in str(refused.value)


@pytest.mark.parametrize(
    "answer",
    [
        b"no JSON",
        b"[]",
        b'{"data": [7, 8]}',
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": [1, 0]}]}',
        json.dumps({"data": [{"index": row, "embedding": ["a"]} for row in range(2)]}).encode(),
    ],
)
async def test_nonsense_is_a_bad_gateway(upstream: RemoteUpstream, server: EmbeddingServer, answer: bytes) -> None:
    server.change = lambda _: answer
    with pytest.raises(RefusedError, match="answered with something else") as refused:
        await upstream.embed(TEXTS)
    assert (refused.value.status, refused.value.code) == (502, "upstream_error")


async def test_vectors_of_another_model_are_refused(server: EmbeddingServer) -> None:
    def check(vectors: Embeddings) -> Embeddings:
        raise EmbedderMismatchError(f"{len(vectors)} rows")

    upstream = RemoteUpstream(url=server.base_url, model="m", key=None, check=check)
    with pytest.raises(RefusedError, match="answered with something else"):
        await upstream.embed(TEXTS)
    await upstream.close()


@pytest.mark.parametrize("usage", [None, 3, {"prompt_tokens": -1}, {"prompt_tokens": True}, {"prompt_tokens": "9"}])
async def test_usage_that_is_none_is_nothing(upstream: RemoteUpstream, server: EmbeddingServer, usage: Any) -> None:
    server.change = lambda answer: {**answer, "usage": usage}
    assert (await upstream.embed(["rain"])).tokens == 0


async def test_a_server_that_is_not_there_is_said_to_be() -> None:
    upstream = RemoteUpstream(url="http://127.0.0.1:9/v1", model="m", key=None, check=lambda vectors: vectors)
    with pytest.raises(RefusedError, match="can't be reached") as refused:
        await upstream.embed(["rain"])
    assert (refused.value.status, refused.value.code) == (502, "upstream_unreachable")
    await upstream.close()
