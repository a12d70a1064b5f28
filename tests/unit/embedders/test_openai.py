from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from support.embedding_server import EmbeddingServer
from vecveil.core.errors import EndpointError, InvalidInputError, MissingExtraError
from vecveil.embedders import OpenAIEmbedder
from vecveil.embedders.embedder import PROBE
from vecveil.embedders.openai import from_spec

KEY = "sk-very-secret"
PRIVATE = "Anna has diabetes"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with EmbeddingServer().running() as running:
        yield running


def _embedder(server: EmbeddingServer, **settings: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder("toy", **{"base_url": server.base_url, "max_retries": 0, **settings})


def _expected(server: EmbeddingServer, texts: list[str]) -> np.ndarray[Any, Any]:
    return np.stack([server.vector(text) for text in texts])


@pytest.mark.parametrize("knows_base64", [True, False])
def test_vectors_come_back_in_base64_or_as_numbers(server: EmbeddingServer, knows_base64: bool) -> None:
    server.knows_base64 = knows_base64
    vectors = _embedder(server).embed(["a", "b"])
    np.testing.assert_allclose(vectors, _expected(server, ["a", "b"]), atol=1e-7)
    assert vectors.dtype == np.float32


def test_rows_follow_the_index_and_not_the_order_of_the_answer(server: EmbeddingServer) -> None:
    server.change = lambda answer: {**answer, "data": answer["data"][::-1]}
    np.testing.assert_array_equal(_embedder(server).embed(["a", "b", "c"]), _expected(server, ["a", "b", "c"]))


def test_texts_are_sent_in_batches(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(5)]
    np.testing.assert_array_equal(_embedder(server, batch_size=2).embed(texts), _expected(server, texts))
    assert [request["input"] for request in server.requests] == [[PROBE], texts[:2], texts[2:4], texts[4:]]


def test_the_fingerprint_comes_from_one_public_probe(server: EmbeddingServer) -> None:
    embedder = _embedder(server, revision="2024-01")
    assert server.requests == []
    fingerprint = embedder.fingerprint
    assert (fingerprint.model, fingerprint.revision) == ("toy", "2024-01")
    assert (fingerprint.dimensions, fingerprint.normalized) == (8, True)
    assert embedder.fingerprint is fingerprint
    assert [request["input"] for request in server.requests] == [[PROBE]]


def test_vectors_of_another_length_are_not_called_normalized(server: EmbeddingServer) -> None:
    server.knows_base64 = False
    server.change = _each(lambda numbers: [2 * number for number in numbers])
    assert not _embedder(server).fingerprint.normalized


def test_shorter_vectors_can_be_asked_for(server: EmbeddingServer) -> None:
    embedder = _embedder(server, dimensions=4)
    assert embedder.embed(["a"]).shape == (1, 4)
    assert embedder.fingerprint.dimensions == 4
    assert {request["dimensions"] for request in server.requests} == {4}


def test_a_refusal_for_now_is_tried_again(server: EmbeddingServer) -> None:
    server.refusals = [429, 503]
    assert _embedder(server, max_retries=2).embed(["a"]).shape == (1, 8)


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_refusal_names_host_and_status_and_never_the_text(server: EmbeddingServer, status: int) -> None:
    embedder = _embedder(server)
    assert embedder.fingerprint
    server.refusals = [status]
    with pytest.raises(EndpointError, match=rf"127\.0\.0\.1 refused the request with status {status}") as caught:
        embedder.embed([PRIVATE])
    assert PRIVATE not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_server_that_is_not_there_is_named() -> None:
    # Nothing listens on the discard port.
    embedder = OpenAIEmbedder("toy", base_url="http://127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1 cannot be reached"):
        embedder.embed(["a"])


def test_a_server_that_is_too_slow_is_named(server: EmbeddingServer) -> None:
    from threading import Event

    released = Event()

    def wait(answer: dict[str, Any]) -> dict[str, Any]:
        released.wait(30)
        return answer

    server.change = wait
    try:
        with pytest.raises(EndpointError, match=r"did not answer within 0\.2 seconds"):
            _embedder(server, timeout=0.2).embed(["a"])
    finally:
        released.set()


def _each(change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda answer: {
        **answer,
        "data": [{**entry, "embedding": change(entry["embedding"])} for entry in answer["data"]],
    }


BAD_ANSWERS: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any] | bytes], str]] = {
    "too few": (lambda answer: {**answer, "data": answer["data"][:-1]}, "answered with 1 embeddings for 2 texts"),
    "too many": (lambda answer: {**answer, "data": answer["data"] * 2}, "answered with 4 embeddings for 2 texts"),
    "none": (lambda answer: {**answer, "data": []}, "answered with 0 embeddings"),
    "repeated index": (lambda answer: {**answer, "data": answer["data"][:1] * 2}, "did not number its embeddings"),
    "no index": (
        lambda answer: {**answer, "data": [{"embedding": entry["embedding"]} for entry in answer["data"]]},
        "did not number its embeddings",
    ),
    "no data": (lambda _: {"object": "list"}, "no list of embeddings"),
    "half an answer": (lambda _: b'{"object": "list", ', "no JSON"),
    "NaN": (_each(lambda _: [float("nan")] * 8), "NaN or infinite"),
    "too large": (_each(lambda _: [1e300] * 8), "NaN or infinite"),
    "words": (_each(lambda _: ["a"] * 8), "no list of numbers"),
    "null": (_each(lambda _: None), "no list of numbers"),
    "nested": (_each(lambda _: [[1.0] * 8]), "no list of numbers"),
    "broken base64": (_each(lambda _: "?!"), "no list of numbers"),
    "cut base64": (_each(lambda _: "AAAA"), "no list of numbers"),
    "empty": (_each(lambda _: []), r"embeddings of \[0\] dimensions"),
    "another length": (_each(lambda _: [1.0] * 7), "7 dimensions, after 8 for the probe"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_nonsense_is_an_endpoint_error(server: EmbeddingServer, name: str) -> None:
    embedder = _embedder(server)
    assert embedder.fingerprint
    server.change, message = BAD_ANSWERS[name]
    with pytest.raises(EndpointError, match=message) as caught:
        embedder.embed([PRIVATE, "b"])
    assert PRIVATE not in str(caught.value)


def test_a_page_for_people_is_an_endpoint_error(server: EmbeddingServer) -> None:
    embedder = _embedder(server)
    assert embedder.fingerprint
    server.content_type = "text/html"
    server.change = lambda _: b"<html>busy</html>"
    with pytest.raises(EndpointError, match="no list of embeddings"):
        embedder.embed(["a"])


def test_rows_of_different_lengths_are_refused(server: EmbeddingServer) -> None:
    embedder = _embedder(server)
    assert embedder.fingerprint
    server.knows_base64 = False

    def shorten(answer: dict[str, Any]) -> dict[str, Any]:
        answer["data"][1]["embedding"].pop()
        return answer

    server.change = shorten
    with pytest.raises(EndpointError, match=r"embeddings of \[7, 8\] dimensions"):
        embedder.embed(["a", "b"])


def test_a_server_that_ignores_the_wish_for_dimensions_is_refused(server: EmbeddingServer) -> None:
    server.change = _each(lambda _: [1.0] * 8)
    with pytest.raises(EndpointError, match="answered with 8 dimensions, asked for 4"):
        _ = _embedder(server, dimensions=4).fingerprint


def test_an_empty_text_is_refused_before_anything_is_sent(server: EmbeddingServer) -> None:
    with pytest.raises(InvalidInputError, match="row 1 is empty"):
        _embedder(server).embed(["a", ""])
    assert server.requests == []


def test_the_key_comes_from_the_environment_and_shows_nowhere(server: EmbeddingServer) -> None:
    embedder = _embedder(server)
    embedder.embed(["a"])
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert KEY not in repr(embedder)
    assert KEY not in json.dumps(embedder.fingerprint.settings())


def test_neither_text_nor_key_reaches_a_log(server: EmbeddingServer, caplog: pytest.LogCaptureFixture) -> None:
    server.refusals = [429]
    with caplog.at_level("DEBUG"):
        _embedder(server, max_retries=1).embed([PRIVATE])
    assert caplog.records
    assert PRIVATE not in caplog.text
    assert KEY not in caplog.text


def test_the_variable_of_the_key_can_be_chosen(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "other")
    assert _embedder(server, api_key_env="OTHER_KEY").fingerprint
    assert server.keys == ["Bearer other"]


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInputError, match="OPENAI_API_KEY"):
        OpenAIEmbedder("toy").embed(["a"])


def test_a_server_of_ones_own_needs_none(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert _embedder(server).embed(["a"]).shape == (1, 8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": ""}, "model"),
        ({"base_url": "localhost:8000"}, "base_url"),
        ({"base_url": "https://user:pass@host/v1"}, "base_url must not hold a password"),
        ({"dimensions": 0}, "dimensions"),
        ({"batch_size": 0}, "batch_size"),
        ({"timeout": 0}, "timeout"),
        ({"max_retries": -1}, "max_retries"),
    ],
)
def test_settings_are_checked_at_birth(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        OpenAIEmbedder(**{"model": "toy", **settings})
    assert "pass@" not in str(caught.value)


def test_specs_name_a_model_and_an_address() -> None:
    assert from_spec("toy") == OpenAIEmbedder("toy")
    assert from_spec("toy@001") == OpenAIEmbedder("toy@001")
    assert from_spec("org/toy@http://localhost:8000/v1") == OpenAIEmbedder(
        "org/toy", base_url="http://localhost:8000/v1"
    )


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[openai\]"):
        OpenAIEmbedder("toy", base_url="http://127.0.0.1:9/v1").embed(["a"])


@pytest.mark.parametrize("address", ["127.0.0.1:8000/v1", "htp://host/v1", "host/v1"])
def test_an_address_without_its_scheme_is_refused_and_not_sent_elsewhere(address: str) -> None:
    with pytest.raises(InvalidInputError, match="must start with http:// or https://"):
        from_spec(f"model@{address}")
    assert from_spec("model@v2").base_url is None
