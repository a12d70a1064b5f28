from __future__ import annotations

from pathlib import Path

import pytest

from support.gateways import MODEL, gateway_veil
from support.veils import made_veil
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.key import Key
from vecveil.embedders import Fingerprint
from vecveil.service.clients import Client, Clients, hash_key
from vecveil.service.gateway import Gateway, Settings
from vecveil.service.release_queue import ReleaseQueue
from vecveil.veil import Guard


def test_vectors_come_from_the_service_that_the_user_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Fingerprint(model=MODEL, revision="1", dimensions=8, normalized=True)
    asked = []
    monkeypatch.setattr(
        "vecveil.service.gateway.RemoteUpstream", lambda **facts: asked.append((facts["url"], facts["model"]))
    )
    for embedder in (f"openai:{MODEL}", f"openai:{MODEL}@https://other.example/v1"):
        guard = Guard(made_veil(epsilon=5.0, fingerprint=spec), key=Key.new(), embedder=embedder)
        for address in (None, "http://internal.example/v1"):
            monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
            if address:
                monkeypatch.setenv("OPENAI_BASE_URL", address)
            Gateway.for_clients(Clients.everybody(), guard, Settings())
    own, other = "https://api.openai.com/v1", "https://other.example/v1"
    assert asked == [(own, MODEL), ("http://internal.example/v1", MODEL), (other, MODEL), (other, MODEL)]


def test_one_upstream_model_is_not_given_to_veils_of_two_models(tmp_path: Path) -> None:
    guard = Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new())
    fingerprint = Fingerprint(model="another", revision="1", dimensions=8, normalized=True)
    made_veil(epsilon=5.0, fingerprint=fingerprint).save(tmp_path / "other.veil")
    clients = Clients({hash_key("k"): Client(name="other", key=hash_key("k"), veil=str(tmp_path / "other.veil"))})
    with pytest.raises(InvalidInputError, match="the veil of client 'other' is for another"):
        Gateway.for_clients(clients, guard, Settings(upstream="http://x/v1", upstream_model="m"))


def test_a_ledger_that_can_t_be_used_is_found_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("no database")
    guard = Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new(), ledger=tmp_path / "ledger.sqlite")
    with pytest.raises(ArtifactError, match=r"ledger\.sqlite"):
        Gateway.for_clients(Clients.everybody(), guard, Settings(upstream="http://x/v1"))


def test_settings_that_are_wrong_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="upstream must start with http"):
        Settings(upstream="ftp://x")
    with pytest.raises(InvalidInputError, match="body_bytes"):
        Settings(body_bytes=0)
    with pytest.raises(InvalidInputError, match=r"held_bytes \(--max-held\) must be at least .*, got 19 and 10"):
        Settings(body_bytes=10, held_bytes=19)
    with pytest.raises(InvalidInputError, match="text_characters"):
        Settings(text_characters=0)
    with pytest.raises(InvalidInputError, match="texts_per_minute"):
        Settings(texts_per_minute=0)


def test_clients_share_a_model_and_a_ledger_and_no_noise(tmp_path: Path) -> None:
    guard = Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new(), ledger=tmp_path / "ledger.sqlite")
    clients = [
        Client(name="one", key=hash_key("1")),
        Client(name="two", key=hash_key("2"), epsilon=50.0, texts_per_minute=7),
        Client(name="three", key=hash_key("3"), paper_epsilon=20.0, query_noise_ratio=0.5),
    ]
    known = Clients({client.key: client for client in clients})
    handlers = Gateway.for_clients(known, guard, Settings(upstream="http://x/v1", texts_per_minute=5)).handlers
    one, two, three = (handlers[client.name] for client in clients)
    assert one.upstream is two.upstream is three.upstream
    assert [handler.rate.per_minute for handler in (one, two, three)] == [5, 7, 5]
    releases = [queue.release for handler in handlers.values() for queue in (handler.documents, handler.queries)]
    assert len({id(one.ledger.open().ledger) for one in releases if one.ledger is not None}) == 1
    assert len({one.label()["key"] for one in [guard.release, *releases]}) == 7
    veil = guard.opened_veil
    assert three.documents.release.mechanism.epsilon == veil.epsilon_for(paper_epsilon=20.0)
    assert three.queries.release.mechanism.epsilon == veil.epsilon_for(noise_ratio=0.5)


def test_the_same_client_has_the_same_key_again(tmp_path: Path) -> None:
    guard = Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new())
    first, again = (
        Gateway.for_clients(Clients.everybody(), guard, Settings(upstream="http://x/v1")).handlers["anyone"]
        for _ in range(2)
    )
    assert _key(first.documents) == _key(again.documents) != _key(first.queries)


def test_noise_stays_fresh_without_a_key(tmp_path: Path) -> None:
    guard = Guard(gateway_veil(tmp_path / "a.veil"))
    handler = Gateway.for_clients(Clients.everybody(), guard, Settings(upstream="http://x/v1")).handlers["anyone"]
    assert not handler.documents.release.is_keyed
    assert not handler.queries.release.is_keyed


def _key(queue: ReleaseQueue) -> str:
    """Return the fingerprint of the key that a queue's noise comes from."""
    return str(queue.release.label()["key"])
