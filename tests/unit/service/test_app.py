from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient

from support.embedding_server import EmbeddingServer
from support.gateways import MODEL, gateway_veil
from support.guards import without_words
from support.veils import PRIVATE_WORD
from vecveil.concepts import terms
from vecveil.core.errors import ArtifactError, ConceptTimeoutError, InvalidInputError, MissingExtraError
from vecveil.core.key import Key
from vecveil.ledger import open_ledger
from vecveil.service.app import create_app, is_local
from vecveil.service.clients import Client, Clients, hash_key
from vecveil.service.gateway import Gateway, Settings
from vecveil.service.limits import BodyLimit
from vecveil.substitutions import build_substitution
from vecveil.veil import Guard
from vecveil.veil.ledger_run import LedgerRun
from vecveil.veil.release import Release
from vecveil.veil.seal import write_as_text

SAME = [1.0, *[0.0] * 7]
TEXT = f"she has {PRIVATE_WORD}"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    return Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new(), ledger=tmp_path / "ledger.sqlite")


def _asked(guard: Guard, server: EmbeddingServer, clients: Clients | None = None, **settings: Any) -> TestClient:
    gateway = Gateway.for_clients(clients or Clients.everybody(), guard, Settings(upstream=server.base_url, **settings))
    return TestClient(create_app(gateway), base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


@pytest.fixture
def client(guard: Guard, server: EmbeddingServer) -> Iterator[TestClient]:
    with _asked(guard, server) as found:
        yield found


def _embed(client: TestClient, given: Any = TEXT, model: str = MODEL, **more: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {more.pop('key')}"} if "key" in more else {}
    return client.post("/v1/embeddings", json={"input": given, "model": model, **more}, headers=headers)


def _rows(answer: httpx.Response) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    return np.asarray([entry["embedding"] for entry in answer.json()["data"]])


def assert_refused(answer: httpx.Response, status: int, code: str | None) -> None:
    assert answer.status_code == status
    assert {*answer.json()["error"]} == {"message", "type", "param", "code"}
    assert answer.json()["error"]["code"] == code
    assert PRIVATE_WORD not in answer.text


def test_vectors_are_protected_the_same_again_and_on_record(
    client: TestClient, server: EmbeddingServer, guard: Guard
) -> None:
    first, again = _rows(_embed(client, [TEXT, "b"])), _rows(_embed(client, [TEXT, "b"]))
    clean = np.stack([server.vector(TEXT), server.vector("b")])
    assert np.array_equal(first, again)
    assert (np.linalg.norm(first - clean, axis=1) > 0.01).all()
    own = Key(guard.key.derive(b"vecveil client", b"anyone\0documents"))  # type: ignore[union-attr]
    assert np.allclose(first, guard.opened_veil.perturb(clean, key=own), atol=1e-6)
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == 4
        assert ledger.totals().records == 2
        assert ledger.problems() == []


def test_tokens_and_usage_are_passed_through(client: TestClient, server: EmbeddingServer) -> None:
    answer = _embed(client, [[1, 2], [3]])
    assert _rows(answer).shape == (2, 8)
    assert server.requests[-1]["input"] == [[1, 2], [3]]
    assert answer.json()["usage"] == {"prompt_tokens": 1, "total_tokens": 1}
    assert _rows(_embed(client, [1, 2])).shape == (1, 8)


def test_a_length_other_than_the_veils_is_refused(client: TestClient) -> None:
    assert _rows(_embed(client, dimensions=8)).shape == (1, 8)
    assert_refused(_embed(client, dimensions=4), 400, "invalid_value")


def test_models_are_listed_and_others_are_unknown(client: TestClient) -> None:
    names = [one["id"] for one in client.get("/v1/models").json()["data"]]
    assert names == [MODEL, f"{MODEL}:document", f"{MODEL}:query"]
    assert client.get(f"/v1/models/{MODEL}").json()["id"] == MODEL
    assert_refused(client.get(f"/v1/models/{PRIVATE_WORD}"), 404, "model_not_found")
    for name in (PRIVATE_WORD, f"{MODEL}:{PRIVATE_WORD}", f"{PRIVATE_WORD}:query"):
        assert_refused(_embed(client, model=name), 404, "model_not_found")


def test_every_client_has_its_own_rules(guard: Guard, server: EmbeddingServer, tmp_path: Path) -> None:
    other = gateway_veil(tmp_path / "other.veil", epsilon=5.0)
    clients = [
        Client(name="plain", key=hash_key("k1")),
        Client(name="reader", key=hash_key("k2"), documents="refuse", queries="clean"),
        Client(name="other", key=hash_key("k3"), veil=str(other), queries="refuse"),
        Client(name="loud", key=hash_key("k4"), epsilon=1.0, query_epsilon=1e6),
    ]
    with _asked(guard, server, Clients({one.key: one for one in clients})) as client:
        for key in ("", "k9", "sha256:"):
            assert_refused(_embed(client, key=key), 401, "invalid_api_key")
        assert_refused(client.get("/v1/models"), 401, "invalid_api_key")
        assert_refused(_embed(client, key="k2"), 404, "model_not_found")
        clean = server.vector(TEXT)
        assert np.allclose(_rows(_embed(client, model=f"{MODEL}:query", key="k2")), clean)
        assert_refused(_embed(client, model=f"{MODEL}:query", key="k3"), 404, "model_not_found")
        distance = {
            name: np.linalg.norm(_rows(_embed(client, model=model, key=key)) - clean)
            for name, model, key in (
                ("plain", MODEL, "k1"),
                ("other", MODEL, "k3"),
                ("loud", MODEL, "k4"),
                ("quiet", f"{MODEL}:query", "k4"),
            )
        }
        assert distance["quiet"] < distance["plain"] < distance["other"] < distance["loud"]


def test_a_budget_that_is_spent_is_refused_and_others_go_on(guard: Guard, server: EmbeddingServer) -> None:
    fresh = Guard(guard.veil, ledger=guard.ledger)
    cost = fresh.release.charge("0" * 32).cost
    assert cost is not None
    with open_ledger(str(guard.ledger)) as ledger:
        ledger.set_limit(1.5 * cost)
    with _asked(fresh, server) as client:
        assert _embed(client).status_code == 200
        assert_refused(_embed(client), 403, "privacy_budget_exceeded")
        assert _embed(client, "another").status_code == 200


@pytest.mark.parametrize(
    ("status", "told", "code"),
    [
        (429, 429, "rate_limit_exceeded"),
        (400, 400, None),
        (401, 502, "upstream_error"),
        (500, 502, "upstream_error"),
        (302, 502, "upstream_error"),
    ],
)
def test_what_the_upstream_refuses_is_told_without_its_words(
    client: TestClient, server: EmbeddingServer, status: int, told: int, code: str | None
) -> None:
    server.refusals = [status]
    assert_refused(_embed(client), told, code)


@pytest.mark.parametrize("answer", [b"", b"no json", b"[]", b'{"data": [{}]}', b'{"data": [7]}', b'{"data": []}'])
def test_an_upstream_that_answers_nonsense_is_a_bad_gateway(
    client: TestClient, server: EmbeddingServer, answer: bytes
) -> None:
    server.change = lambda _: answer
    assert_refused(_embed(client), 502, "upstream_error")


def test_vectors_of_another_model_are_not_released(client: TestClient, server: EmbeddingServer) -> None:
    def longer(answer: dict[str, Any]) -> dict[str, Any]:
        answer["data"][0]["embedding"] = (2 * server.vector(TEXT)).tolist()
        return answer

    server.change = longer
    assert_refused(_embed(client), 502, "upstream_error")


def test_a_vector_of_zeros_is_none(client: TestClient, server: EmbeddingServer) -> None:
    def nothing(answer: dict[str, Any]) -> dict[str, Any]:
        answer["data"][0]["embedding"] = [0.0] * 8
        return answer

    server.change = nothing
    assert_refused(_embed(client), 502, "upstream_error")


def test_usage_that_is_none_is_counted_as_nothing(client: TestClient, server: EmbeddingServer) -> None:
    for usage in (True, -1, "7", None):
        server.change = lambda answer, usage=usage: {**answer, "usage": {"prompt_tokens": usage}}  # type: ignore[misc]
        assert _embed(client).json()["usage"]["prompt_tokens"] == 0


def test_an_upstream_that_is_not_there_is_said_to_be(guard: Guard) -> None:
    gone = EmbeddingServer(base_url="http://127.0.0.1:9/v1")
    with _asked(guard, gone) as client:
        assert_refused(_embed(client), 502, "upstream_unreachable")


def test_a_ledger_that_fails_releases_nothing(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _embed(client).status_code == 200

    def fail(*_: object) -> None:
        raise ArtifactError(f"disk full at {PRIVATE_WORD}")

    monkeypatch.setattr(LedgerRun, "spend", fail)
    assert_refused(_embed(client), 503, "ledger_error")


def test_a_vector_under_another_name_is_a_conflict_where_the_ledger_refuses_that(
    guard: Guard, server: EmbeddingServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.change = lambda answer: {**answer, "data": [{**one, "embedding": SAME} for one in answer["data"]]}
    with open_ledger(str(guard.ledger)) as ledger:
        ledger.set_renamed("refuse")
    caplog.set_level("INFO", "vecveil.gateway")
    with _asked(guard, server) as client:
        assert _embed(client, "a").status_code == 200
        assert_refused(answer := _embed(client, TEXT), 409, "release_refused")
        assert _embed(client, "a").status_code == 200
    assert "ledger.sqlite" not in answer.text
    assert PRIVATE_WORD not in str([vars(line) for line in caplog.records])


def test_what_a_release_refuses_is_no_failure_of_the_gateway(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise InvalidInputError(f"no noise for {PRIVATE_WORD}")

    monkeypatch.setattr(Release, "protect_vectors", fail)
    assert_refused(_embed(client), 409, "release_refused")


@pytest.mark.parametrize(
    "error",
    [
        InvalidInputError(f"no candidates for {PRIVATE_WORD}"),
        ConceptTimeoutError(PRIVATE_WORD),
        MissingExtraError(PRIVATE_WORD, "ner"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_words_that_can_t_be_replaced_are_a_refusal(
    guard: Guard, server: EmbeddingServer, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Release, "rewrite", fail)
    with _asked(without_words(guard, terms(PRIVATE_WORD)), server) as client:
        answer = _embed(client)
        assert answer.status_code == 400
        assert PRIVATE_WORD not in answer.text
        assert server.requests == []


def test_a_category_without_candidates_is_a_refusal(guard: Guard, server: EmbeddingServer) -> None:
    settings = {"epsilon": 1.0, "candidates": {"DISEASE": ["asthma", "gout"]}}
    concept = terms("asthma", "gout", label="DISEASE") | terms(PRIVATE_WORD, label="PERSON")
    veil = replace(guard.opened_veil, concept=concept, substitution=build_substitution("randomize", settings))
    with _asked(replace(guard, veil=veil), server) as client:
        assert_refused(_embed(client), 400, "words_not_replaced")
        assert _embed(client, "she has gout").status_code == 200


def test_what_nobody_expected_is_a_plain_500(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise RuntimeError(TEXT)

    monkeypatch.setattr("vecveil.service.handler.write_answer", fail)
    assert_refused(_embed(client), 500, None)
    assert client.get("/health").json() == {"status": "ok"}


def test_a_body_that_is_too_long_is_refused(guard: Guard, server: EmbeddingServer) -> None:
    with _asked(guard, server, body_bytes=1000) as client:
        assert_refused(_embed(client, "a" * 2000), 413, "request_too_large")
        parts = (b"a" * 400 for _ in range(5))
        assert_refused(client.post("/v1/embeddings", content=parts), 413, "request_too_large")
        assert _embed(client, "a" * 100).status_code == 200


def test_more_than_a_client_may_hold_is_turned_away(
    guard: Guard, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(BodyLimit):
        def __init__(self, **limits: int) -> None:
            super().__init__(**limits)
            self.held["anyone"] = self.most // 2 - 10

    monkeypatch.setattr("vecveil.service.app.BodyLimit", Full)
    with _asked(guard, server) as client:
        answer = _embed(client)
    assert_refused(answer, 429, "rate_limit_exceeded")
    assert answer.headers["Retry-After"] == "1"


def test_more_texts_than_a_client_may_send_are_turned_away(guard: Guard, server: EmbeddingServer) -> None:
    clients = [
        Client(name="slow", key=hash_key("k1"), texts_per_minute=2),
        Client(name="other", key=hash_key("k2")),
    ]
    with _asked(guard, server, Clients({one.key: one for one in clients})) as client:
        assert _embed(client, ["a", "b", "c"], key="k1").status_code == 200
        answer = _embed(client, key="k1")
        assert_refused(answer, 429, "rate_limit_exceeded")
        assert 0 < int(answer.headers["Retry-After"]) <= 30
        assert _embed(client, key="k2").status_code == 200
    assert [request["input"] for request in server.requests] == [["a", "b", "c"], [TEXT]]


def test_bodies_that_are_refused_count_by_their_length(guard: Guard, server: EmbeddingServer) -> None:
    with _asked(guard, server, texts_per_minute=2) as client:
        unreadable = client.post("/v1/embeddings", content=b"[" * 9_000)
        assert unreadable.status_code == 400
        for answer in (client.post("/v1/embeddings", content=b"["), _embed(client)):
            assert_refused(answer, 429, "rate_limit_exceeded")
            assert 0 < int(answer.headers["Retry-After"]) <= 30
    assert server.requests == []


def test_a_long_text_is_refused_before_a_model_sees_it(guard: Guard, server: EmbeddingServer) -> None:
    with _asked(guard, server, text_characters=100) as client:
        assert_refused(_embed(client, ["a", "a" * 101]), 400, "string_above_max_length")
        assert server.requests == []
        assert _embed(client, ["a", "a" * 100]).status_code == 200


@pytest.mark.parametrize("path", ["/v1/models", "/health", "/metrics"])
def test_without_keys_no_other_name_of_this_machine_is_answered(client: TestClient, path: str) -> None:
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"):
        assert client.get(path, headers={"Host": host}).status_code == 200
    for host in ("evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1", "10.0.0.1"):
        assert_refused(client.get(path, headers={"Host": host}), 403, "host_not_allowed")


def test_without_keys_no_web_page_elsewhere_is_answered(client: TestClient) -> None:
    asked = {"input": TEXT, "model": MODEL}
    for origin, status in (("http://localhost:3000", 200), ("https://evil.example", 403), ("null", 403)):
        assert client.post("/v1/embeddings", json=asked, headers={"Origin": origin}).status_code == status


def test_with_keys_any_name_is_answered(guard: Guard, server: EmbeddingServer) -> None:
    with _asked(guard, server, Clients({hash_key("k"): Client(name="one", key=hash_key("k"))})) as client:
        assert client.get("/health", headers={"Host": "vectors.example"}).status_code == 200


def test_paths_and_methods_that_are_none_are_refused_in_the_same_form(client: TestClient) -> None:
    assert_refused(client.get(f"/{PRIVATE_WORD}"), 404, "not_found")
    assert_refused(client.get("/v1/embeddings"), 405, "not_found")
    assert_refused(client.post("/v1/embeddings/", json={}, follow_redirects=False), 404, "not_found")
    assert_refused(client.get("/docs"), 404, "not_found")


def test_metrics_count_and_tell_no_more(client: TestClient) -> None:
    _embed(client, [TEXT, "b"])
    client.get(f"/{PRIVATE_WORD}")
    text = client.get("/metrics").text
    assert 'vecveil_requests_total{path="/v1/embeddings",status="200"} 1.0' in text
    assert 'vecveil_vectors_total{treatment="protect"} 2.0' in text
    assert PRIVATE_WORD not in text


def test_metrics_name_clients_only_where_asked_for_and_to_clients_alone(guard: Guard, server: EmbeddingServer) -> None:
    clients = Clients({hash_key("k"): Client(name="hospital", key=hash_key("k"))})
    with _asked(guard, server, clients) as client:
        _embed(client, key="k")
        assert "hospital" not in client.get("/metrics").text
    with _asked(guard, server, clients, metrics_clients=True) as client:
        _embed(client, key="k")
        assert_refused(client.get("/metrics"), 401, "invalid_api_key")
        text = client.get("/metrics", headers={"Authorization": "Bearer k"}).text
    assert 'vecveil_vectors_total{client="hospital",treatment="protect"} 1.0' in text


def test_logs_hold_no_text_and_no_vector(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "vecveil.gateway")
    answer = _embed(client)
    (line,) = [record for record in caplog.records if record.name == "vecveil.gateway"]
    facts = vars(line)["facts"]
    assert (facts["client"], facts["inputs"], facts["status"]) == ("anyone", 1, 200)
    assert facts["request"] == answer.headers["x-request-id"]
    assert PRIVATE_WORD not in str(vars(line))


def test_only_this_machine_can_reach_a_loopback_address() -> None:
    assert all(is_local(host) for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9"))
    assert not any(is_local(host) for host in ("0.0.0.0", "example.org", "", "::"))  # noqa: S104


SEARCHED = ["rain again", TEXT, "a sunny day", "rain today"]


@pytest.fixture
def clients() -> Clients:
    """One that writes documents, another, and one that may rerank."""
    known = [
        Client(name="writer", key=hash_key("k1")),
        Client(name="other", key=hash_key("k2"), queries="clean"),
        Client(name="searcher", key=hash_key("k3"), documents="refuse", rerank="allow"),
    ]
    return Clients({one.key: one for one in known})


def _rerank(client: TestClient, documents: Any, *, key: str = "k3", path: str = "/v1/rerank", **more: Any) -> Any:
    asked = {"model": MODEL, "query": "rain", "documents": documents, **more}
    return client.post(path, json=asked, headers={"Authorization": f"Bearer {key}"})


def _order(answer: Any) -> list[tuple[int, float]]:
    assert answer.status_code == 200, answer.text
    return [(one["index"], one["relevance_score"]) for one in answer.json()["results"]]


def _exact(server: EmbeddingServer) -> list[tuple[int, float]]:
    scores = np.stack([server.vector(text) for text in SEARCHED]) @ server.vector("rain")
    return [(int(row), pytest.approx(scores[row], abs=2e-3)) for row in np.argsort(-scores)]


def _seal(client: TestClient, texts: list[str] = SEARCHED, *, key: str = "k1", **more: Any) -> list[dict[str, Any]]:
    ids = [f"n{row}" for row in range(len(texts))]
    answer = _embed(client, texts, key=key, **{"seal_ids": ids, **more})
    assert answer.status_code == 200, answer.text
    return [{"id": one, "seal": entry["seal"]} for one, entry in zip(ids, answer.json()["data"], strict=True)]


def test_texts_and_seals_come_back_in_the_order_of_their_clean_vectors(
    guard: Guard, server: EmbeddingServer, clients: Clients
) -> None:
    with _asked(guard, server, clients) as client:
        sealed = _seal(client)
        for documents in (SEARCHED, [{"text": text} for text in SEARCHED], sealed, [SEARCHED[0], *sealed[1:]]):
            assert _order(_rerank(client, documents)) == _exact(server)
        assert _order(_rerank(client, sealed, top_n=2)) == _exact(server)[:2]
        # What a file or a store has, sealed by the same key, opens too.
        own = [write_as_text(one) for one in guard.sealer.seal(np.stack([server.vector(SEARCHED[0])]), ["n0"])]
        assert _order(_rerank(client, [{"id": "n0", "seal": own[0]}])) == [one for one in _exact(server) if not one[0]]
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == len(SEARCHED)


def test_seals_hold_the_words_that_the_protected_vectors_have_not(
    guard: Guard, server: EmbeddingServer, clients: Clients
) -> None:
    guard = without_words(guard, terms(PRIVATE_WORD))
    with _asked(guard, server, clients) as client:
        sealed = _seal(client)
        assert [one["input"] for one in server.requests] == [["rain again", "she has", *SEARCHED[2:]], [TEXT]]
        assert _order(_rerank(client, sealed)) == _exact(server)
        plain = _rows(_embed(client, SEARCHED, key="k1"))
        asked = _rows(_embed(client, SEARCHED, key="k1", seal_ids=[*range(4)]))
        assert np.array_equal(plain, asked)


def test_cohere_and_jina_get_what_their_clients_read(guard: Guard, server: EmbeddingServer, clients: Clients) -> None:
    with _asked(guard, server, clients) as client:
        # As cohere.Client and cohere.ClientV2 write it, what is not given left out.
        more = {"top_n": 2, "rank_fields": ["text"], "return_documents": True, "max_chunks_per_doc": 10}
        first = _rerank(client, [{"text": text} for text in SEARCHED], **more).json()
        assert {*first} >= {"id", "results"}
        assert [{*one} for one in first["results"]] == [{"index", "relevance_score", "document"}] * 2
        assert first["results"][0]["document"] == {"text": SEARCHED[first["results"][0]["index"]]}
        second = _rerank(client, SEARCHED, path="/v2/rerank", top_n=2, max_tokens_per_doc=4096, priority=0).json()
        assert [{*one} for one in second["results"]] == [{"index", "relevance_score"}] * 2
        # As Jina's API has it.
        third = _rerank(client, SEARCHED, top_n=2, return_documents=True).json()
        assert {*third} >= {"model", "usage", "results"}
        assert third["usage"] == {"prompt_tokens": 1, "total_tokens": 1}
        sealed = _rerank(client, _seal(client), return_documents=True, top_n=1).json()["results"]
        assert {*sealed[0]["document"]} == {"id"}


def test_only_a_client_that_is_allowed_to_may_rerank(guard: Guard, server: EmbeddingServer, clients: Clients) -> None:
    with _asked(guard, server, clients) as client:
        for key in ("k1", "k2"):
            assert_refused(_rerank(client, SEARCHED, key=key), 403, "rerank_refused")
        assert_refused(_rerank(client, SEARCHED, key="k9"), 401, "invalid_api_key")
        assert_refused(_rerank(client, SEARCHED, model=PRIVATE_WORD), 404, "model_not_found")
    with _asked(guard, server) as client:
        assert_refused(_rerank(client, SEARCHED), 403, "rerank_refused")
    assert server.requests == []


def test_a_seal_that_does_not_open_is_named_by_its_place(
    guard: Guard, server: EmbeddingServer, clients: Clients, tmp_path: Path
) -> None:
    with _asked(guard, server, clients) as client:
        sealed = _seal(client)
        asked = len(server.requests)
        for broken in (
            {**sealed[1], "id": "n0"},
            {**sealed[1], "seal": sealed[1]["seal"][:-8] + "AAAAAAA="},
            {**sealed[1], "seal": "vvs1:"},
            {**sealed[1], "seal": PRIVATE_WORD},
        ):
            answer = _rerank(client, ["rain", broken, sealed[2]])
            assert_refused(answer, 400, "invalid_value")
            assert (answer.json()["error"]["param"], "document 1 has" in answer.text) == ("documents", True)
        # Nothing was embedded for it.
        assert len(server.requests) == asked
    for other in (replace(guard, key=Key.new()), replace(guard, veil=gateway_veil(tmp_path / "o.veil", epsilon=7.0))):
        with _asked(other, server, clients) as client:
            assert_refused(_rerank(client, sealed), 400, "invalid_value")


def test_seals_have_a_key_of_their_own_where_one_is_named(
    guard: Guard, server: EmbeddingServer, clients: Clients
) -> None:
    with _asked(replace(guard, seal_key=Key.new()), server, clients) as client:
        sealed = _seal(client)
        assert _order(_rerank(client, sealed)) == _exact(server)
    with _asked(guard, server, clients) as client:
        assert_refused(_rerank(client, sealed), 400, "invalid_value")
    with _asked(replace(guard, key=None, seal_key=Key.new()), server, clients) as client:
        assert _order(_rerank(client, _seal(client))) == _exact(server)
    with _asked(replace(guard, key=None), server, clients) as client:
        assert_refused(_rerank(client, sealed), 400, "seals_unavailable")
        assert_refused(_embed(client, "a", key="k1", seal_ids=["x"]), 400, "seals_unavailable")
        assert _order(_rerank(client, SEARCHED)) == _exact(server)


def test_no_client_can_test_a_guess_by_comparing_seals(guard: Guard, server: EmbeddingServer, clients: Clients) -> None:
    with _asked(guard, server, clients) as client:
        first, again, other = _seal(client), _seal(client), _seal(client, key="k2")
        for seals in zip(first, again, other, strict=True):
            bytes_of = [base64.b64decode(one["seal"].removeprefix("vvs1:")) for one in seals]
            assert len({one[1:13] for one in bytes_of}) == len({one[13:] for one in bytes_of}) == 3
        assert _order(_rerank(client, other)) == _order(_rerank(client, first)) == _order(_rerank(client, again))


@pytest.mark.parametrize(
    ("given", "more"),
    [
        (SEARCHED, {"seal_ids": ["a"]}),
        ("rain", {"seal_ids": []}),
        ("rain", {"seal_ids": ["a", "b"]}),
        ("rain", {"seal_ids": ["a"], "model": f"{MODEL}:query"}),
    ],
)
def test_seals_that_fit_no_document_are_refused_before_anything_is_embedded(
    guard: Guard, server: EmbeddingServer, clients: Clients, given: Any, more: dict[str, Any]
) -> None:
    with _asked(guard, server, clients) as client:
        answer = _embed(client, given, key="k2", **more)
        assert_refused(answer, 400, "invalid_value")
        assert answer.json()["error"]["param"] == "seal_ids"
    assert server.requests == []


def test_nothing_is_sealed_where_nobody_asks(client: TestClient) -> None:
    assert {*_embed(client).json()["data"][0]} == {"object", "index", "embedding"}


def test_what_may_not_be_released_is_not_sealed_either(guard: Guard, server: EmbeddingServer) -> None:
    fresh = replace(guard, key=None, seal_key=Key.new())
    with open_ledger(str(guard.ledger)) as ledger:
        ledger.set_limit(1.5 * (fresh.release.charge("0" * 32).cost or 0.0))
    with _asked(fresh, server) as client:
        assert _embed(client, seal_ids=["a"]).status_code == 200
        answer = _embed(client, seal_ids=["a"])
        assert_refused(answer, 403, "privacy_budget_exceeded")
        assert "vvs1" not in answer.text


def test_an_order_counts_by_its_texts_and_seals(guard: Guard, server: EmbeddingServer, clients: Clients) -> None:
    with _asked(guard, server, clients, texts_per_minute=4) as client:
        sealed = _seal(client)
        assert _rerank(client, [SEARCHED[0], *sealed[1:]]).status_code == 200
        answer = _rerank(client, sealed)
        assert_refused(answer, 429, "rate_limit_exceeded")
        assert 0 < int(answer.headers["Retry-After"]) <= 15
    with _asked(guard, server, clients, text_characters=100, body_bytes=1000) as client:
        assert_refused(_rerank(client, ["a" * 101]), 400, "string_above_max_length")
        assert_refused(_rerank(client, ["a" * 90] * 20), 413, "request_too_large")


def test_an_order_is_logged_and_counted_without_its_texts(
    guard: Guard, server: EmbeddingServer, clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "vecveil.gateway")
    with _asked(guard, server, clients) as client:
        sealed = _seal(client)
        _rerank(client, [TEXT, *sealed], query=TEXT)
        assert 'vecveil_vectors_total{treatment="rerank"} 5.0' in client.get("/metrics").text
    facts = [vars(record)["facts"] for record in caplog.records if record.getMessage() == "request"]
    assert [(one["path"], one.get("treatment"), one.get("inputs")) for one in facts[:2]] == [
        ("/v1/embeddings", "protect", 4),
        ("/v1/rerank", "rerank", 5),
    ]
    logged = str([vars(record) for record in caplog.records])
    assert not any(secret in logged for secret in (PRIVATE_WORD, "vvs1", "relevance", "rain"))
