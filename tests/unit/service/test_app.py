from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient
from support.embedding_server import EmbeddingServer
from support.gateways import MODEL, gateway_veil
from support.veils import PRIVATE_WORD, made_veil

from vecveil.accounting.ledger import open_ledger
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.key import Key
from vecveil.embedders import Fingerprint
from vecveil.service.app import create_app
from vecveil.service.bodies import Bodies
from vecveil.service.clients import Client, Clients, hashed
from vecveil.service.gateway import Gateway, Settings
from vecveil.service.server import is_local, serve
from vecveil.veil import Guard

TEXT = f"she has {PRIVATE_WORD}"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    return Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new(), ledger=tmp_path / "ledger.sqlite")


def _asked(guard: Guard, server: EmbeddingServer, clients: Clients | None = None, **settings: Any) -> TestClient:
    gateway = Gateway.of(guard, clients or Clients.everybody(), Settings(upstream=server.base_url, **settings))
    return TestClient(create_app(gateway), raise_server_exceptions=False)


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
    assert np.allclose(first, guard.protection.veil.perturb(clean, key=guard.key), atol=1e-6)  # type: ignore[arg-type]
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
        Client(name="plain", key=hashed("k1")),
        Client(name="reader", key=hashed("k2"), documents="refuse", queries="clean"),
        Client(name="other", key=hashed("k3"), veil=str(other), queries="refuse"),
        Client(name="loud", key=hashed("k4"), epsilon=1.0, query_epsilon=1e6),
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
    cost = fresh.protection.charge("0" * 32).cost
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


def test_a_ledger_that_fails_releases_nothing(
    client: TestClient, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _embed(client).status_code == 200
    journal = guard._journal()
    assert journal is not None

    def fail(_: object) -> None:
        raise InvalidInputError(f"disk full at {PRIVATE_WORD}")

    monkeypatch.setattr(type(journal), "record", lambda _, batch: fail(batch))
    assert_refused(_embed(client), 503, "ledger_error")


def test_what_nobody_expected_is_a_plain_500(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise RuntimeError(TEXT)

    monkeypatch.setattr("vecveil.service.policy.answer", fail)
    assert_refused(_embed(client), 500, None)
    assert client.get("/health").json() == {"status": "ok"}


def test_a_body_that_is_too_long_is_refused(guard: Guard, server: EmbeddingServer) -> None:
    with _asked(guard, server, body_bytes=1000) as client:
        assert_refused(_embed(client, "a" * 2000), 413, "request_too_large")
        parts = (b"a" * 400 for _ in range(5))
        assert_refused(client.post("/v1/embeddings", content=parts), 413, "request_too_large")
        assert _embed(client, "a" * 100).status_code == 200


def test_more_than_there_is_room_for_is_turned_away(
    guard: Guard, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(Bodies):
        def __post_init__(self) -> None:
            self.held = self.most - 10

    monkeypatch.setattr("vecveil.service.app.Bodies", Full)
    with _asked(guard, server) as client:
        answer = _embed(client)
    assert_refused(answer, 503, "overloaded")
    assert answer.headers["Retry-After"] == "1"


def test_paths_and_methods_that_are_none_are_refused_in_the_same_form(client: TestClient) -> None:
    assert_refused(client.get(f"/{PRIVATE_WORD}"), 404, "not_found")
    assert_refused(client.get("/v1/embeddings"), 405, "not_found")
    assert_refused(client.post("/v1/embeddings/", json={}, follow_redirects=False), 404, "not_found")
    assert_refused(client.get("/docs"), 404, "not_found")


def test_figures_count_and_tell_no_more(client: TestClient) -> None:
    _embed(client, [TEXT, "b"])
    client.get(f"/{PRIVATE_WORD}")
    text = client.get("/metrics").text
    assert 'vecveil_requests_total{path="/v1/embeddings",status="200"} 1.0' in text
    assert 'vecveil_vectors_total{client="anyone",treatment="protect"} 2.0' in text
    assert PRIVATE_WORD not in text


def test_logs_hold_no_text_and_no_vector(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "vecveil.gateway")
    answer = _embed(client)
    (line,) = [record for record in caplog.records if record.name == "vecveil.gateway"]
    facts = vars(line)["facts"]
    assert (facts["client"], facts["inputs"], facts["status"]) == ("anyone", 1, 200)
    assert facts["request"] == answer.headers["x-request-id"]
    assert PRIVATE_WORD not in str(vars(line))


def test_others_are_not_let_in_without_keys(guard: Guard, server: EmbeddingServer) -> None:
    gateway = Gateway.of(guard, Clients.everybody(), Settings(upstream=server.base_url))
    with pytest.raises(InvalidInputError, match=r"0\.0\.0\.0 can be reached by others"):
        serve(gateway, host="0.0.0.0", port=0)  # noqa: S104
    assert [is_local(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")] == [  # noqa: S104
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_veil_of_a_service_is_asked_for_where_its_embedder_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Fingerprint(model=MODEL, revision="1", dimensions=8, normalised=True)
    asked = []
    monkeypatch.setattr(
        "vecveil.service.gateway.RemoteUpstream", lambda address, **facts: asked.append((address, facts["model"]))
    )
    for embedder in (f"openai:{MODEL}", f"openai:{MODEL}@https://other.example/v1"):
        guard = Guard(made_veil(epsilon=5.0, fingerprint=spec, embedder=embedder), key=Key.new())
        for address in (None, "http://internal.example/v1"):
            monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
            if address:
                monkeypatch.setenv("OPENAI_BASE_URL", address)
            Gateway.of(guard, Clients.everybody(), Settings())
    own, other = "https://api.openai.com/v1", "https://other.example/v1"
    assert asked == [(own, MODEL), ("http://internal.example/v1", MODEL), (other, MODEL), (other, MODEL)]


def test_one_upstream_model_is_not_given_to_veils_of_two_models(guard: Guard, tmp_path: Path) -> None:
    fingerprint = Fingerprint(model="another", revision="1", dimensions=8, normalised=True)
    made_veil(epsilon=5.0, fingerprint=fingerprint).save(tmp_path / "other.veil")
    clients = Clients({hashed("k"): Client(name="other", key=hashed("k"), veil=str(tmp_path / "other.veil"))})
    with pytest.raises(InvalidInputError, match="the veil of client 'other' is for another"):
        Gateway.of(guard, clients, Settings(upstream="http://x/v1", upstream_model="m"))


def test_a_ledger_that_can_t_be_used_is_found_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("no database")
    guard = Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new(), ledger=tmp_path / "ledger.sqlite")
    with pytest.raises(ArtifactError, match=r"ledger\.sqlite"):
        Gateway.of(guard, Clients.everybody(), Settings(upstream="http://x/v1"))


def test_settings_that_are_wrong_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="upstream must start with http"):
        Settings(upstream="ftp://x")
    with pytest.raises(InvalidInputError, match="body_bytes"):
        Settings(body_bytes=0)
