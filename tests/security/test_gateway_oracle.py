"""The gateway as an oracle: what a client with a bearer key can test against vectors that leaked."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient

from support.embedding_server import EmbeddingServer
from support.gateways import MODEL, gateway_veil
from support.ledgers import read_spent
from support.veils import PRIVATE_WORD
from vecveil.core.key import Key
from vecveil.ledger import open_ledger
from vecveil.service.app import create_app
from vecveil.service.clients import Client, Clients, hash_key
from vecveil.service.gateway import Gateway, Settings
from vecveil.veil import Guard

RECORDS = [f"patient {number} has {PRIVATE_WORD}" for number in range(30)]
GUESSES = RECORDS + [f"patient {number} is well" for number in range(216)]
NAMES = ("hospital", "intruder", "hospital-2")


pytestmark = pytest.mark.filterwarnings("ignore:the noise is 20 times")


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    """Noise of 20 times the length of a vector, which hides everything from those who can't repeat it."""
    return Guard(gateway_veil(tmp_path / "a.veil"), noise_ratio=20.0, key=Key.new(), ledger=tmp_path / "ledger.sqlite")


@pytest.fixture
def gateway(guard: Guard) -> Iterator[TestClient]:
    known = Clients({hash_key(name): Client(name=name, key=hash_key(name)) for name in NAMES})
    with EmbeddingServer().running() as server:
        app = create_app(Gateway.for_clients(known, guard, Settings(upstream=server.base_url)))
        with TestClient(app, base_url="http://127.0.0.1") as client:
            yield client


def _ask(gateway: TestClient, texts: list[str], *, client: str, side: str = "document") -> httpx.Response:
    asked = {"input": texts, "model": f"{MODEL}:{side}", "encoding_format": "base64"}
    return gateway.post("/v1/embeddings", json=asked, headers={"Authorization": f"Bearer {client}"})


def _embed(gateway: TestClient, texts: list[str], *, client: str, side: str = "document") -> list[str]:
    """Return the bytes of each vector, as base64."""
    answer = _ask(gateway, texts, client=client, side=side)
    assert answer.status_code == 200, answer.text
    return [entry["embedding"] for entry in answer.json()["data"]]


@pytest.mark.parametrize(
    ("client", "side"),
    [("intruder", "document"), ("intruder", "query"), ("hospital-2", "document"), ("hospital", "query")],
)
def test_guesses_confirm_no_leaked_vector_of_another_client_or_side(
    gateway: TestClient, client: str, side: str
) -> None:
    leaked = _embed(gateway, RECORDS, client="hospital")
    answers = _embed(gateway, GUESSES, client=client, side=side)
    assert not {*leaked} & {*answers}


def test_the_noise_of_two_clients_does_not_cancel(gateway: TestClient) -> None:
    leaked, answers = (_decode(_embed(gateway, RECORDS, client=name)) for name in ("hospital", "intruder"))
    # Were the noise, 20 times as long as a vector, the same, the difference would be that of the clean vectors.
    assert (np.linalg.norm(leaked - answers, axis=1) > 3).all()


@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_a_vector_of_the_gateway_is_not_that_of_the_owners_key(gateway: TestClient, guard: Guard) -> None:
    server = EmbeddingServer()
    own = guard.release.protect_vectors(np.stack([server.vector(text) for text in RECORDS]))
    assert (np.linalg.norm(own - _decode(_embed(gateway, RECORDS, client="hospital")), axis=1) > 3).all()


@pytest.mark.parametrize("side", ["document", "query"])
def test_a_client_gets_its_own_vectors_again(gateway: TestClient, guard: Guard, side: str) -> None:
    first = _embed(gateway, RECORDS, client="hospital", side=side)
    assert _embed(gateway, RECORDS, client="hospital", side=side) == first
    with open_ledger(str(guard.ledger)) as ledger:
        spent = read_spent(ledger, [entry.record for entry in ledger.releases()])
    assert max(spent) == pytest.approx(guard.release.charge("0" * 32).cost)


@pytest.fixture
def limit(guard: Guard) -> None:
    """A limit that lets each text out once."""
    cost = guard.release.charge("0" * 32).cost
    assert cost is not None
    with open_ledger(str(guard.ledger)) as ledger:
        ledger.set_limit(1.5 * cost)


@pytest.mark.usefixtures("limit")
def test_a_refusal_tells_nothing_of_what_another_client_was_given(gateway: TestClient) -> None:
    assert _ask(gateway, RECORDS, client="hospital").status_code == 200
    for texts in (RECORDS, RECORDS[:1], GUESSES[-1:]):
        assert _ask(gateway, texts, client="intruder").status_code == 200
    # A client's own limit holds, over documents and queries.
    assert _ask(gateway, RECORDS[:1], client="hospital", side="query").status_code == 403


@pytest.mark.usefixtures("limit")
def test_clients_may_share_a_collection_and_its_limits(guard: Guard) -> None:
    known = {hash_key(name): Client(name=name, key=hash_key(name), collection="all") for name in NAMES}
    with EmbeddingServer().running() as server:
        app = create_app(Gateway.for_clients(Clients(known), guard, Settings(upstream=server.base_url)))
        with TestClient(app, base_url="http://127.0.0.1") as shared:
            assert _ask(shared, RECORDS[:1], client="hospital").status_code == 200
            assert _ask(shared, RECORDS[:1], client="intruder").status_code == 403


@pytest.mark.filterwarnings("error:the ledger knows")
def test_no_warning_tells_that_two_clients_sent_the_same(gateway: TestClient) -> None:
    for client in NAMES:
        assert _ask(gateway, RECORDS, client=client).status_code == 200


def _decode(vectors: list[str]) -> np.ndarray:
    return np.stack([np.frombuffer(base64.b64decode(one), "<f4") for one in vectors])
