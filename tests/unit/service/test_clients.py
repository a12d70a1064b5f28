from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.service.clients import Client, Clients, add_client, hash_key, read_clients


def test_a_client_is_found_by_its_key_and_by_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "clients.toml"
    first, second = add_client(path, "one"), add_client(path, "two", noise_ratio=0.5, queries="clean")
    clients = read_clients(path)
    found = clients.find(f"Bearer {second}")
    assert found is not None
    assert (found.name, found.noise_ratio, found.queries) == ("two", 0.5, "clean")
    assert clients.find(f"bearer {first}").name == "one"  # type: ignore[union-attr]
    for header in (None, "", "Bearer", "Bearer x", f"Basic {first}", first, f"Bearer {hash_key(first)}"):
        assert clients.find(header) is None


def test_a_key_is_kept_as_a_hash_in_a_file_of_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "clients.toml"
    key = add_client(path, "one", veil='a "b"\n[two].veil')
    assert key not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert next(iter(read_clients(path).known.values())).veil == 'a "b"\n[two].veil'
    assert [one.name for one in tmp_path.iterdir()] == ["clients.toml"]
    with pytest.raises(ArtifactError, match="could not be written"):
        add_client(tmp_path / "nowhere" / "clients.toml", "one")


def test_two_clients_have_two_names(tmp_path: Path) -> None:
    add_client(tmp_path / "clients.toml", "one")
    with pytest.raises(InvalidInputError, match="has a client 'one' already"):
        add_client(tmp_path / "clients.toml", "one")
    with pytest.raises(InvalidInputError, match="letters, digits"):
        add_client(tmp_path / "clients.toml", "one]\n[two")


def test_everybody_needs_no_key() -> None:
    clients = Clients.everybody()
    assert clients.open
    assert clients.find(None) is not None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "names no client"),
        ("[one]", "must have a key of its own"),
        ("[one]\nkey='sk-plain-text'", "must be a hash"),
        (f"[one]\nkey='{hash_key('a')}'\n[two]\nkey='{hash_key('a')}'", "a key of its own"),
        (f"[one]\nkey='{hash_key('a')}'\nqueries='maybe'", "queries of client 'one'"),
        (f"[one]\nkey='{hash_key('a')}'\ndocuments='clean'", "documents of client 'one'"),
        (f"[one]\nkey='{hash_key('a')}'\nrerank='clean'", "rerank of client 'one'"),
        (f"[one]\nkey='{hash_key('a')}'\nrerank=true", "rerank of client 'one' must be text"),
        (f"[one]\nkey='{hash_key('a')}'\nsecret=1", "and nothing else"),
        ("one = 1", "and nothing else"),
        ("[one]\nkey=5", "key of client 'one' must be text"),
        (f"[one]\nkey='{hash_key('a')}'\nnoise_ratio='0.5'", "noise_ratio of client 'one' must be a number"),
        (f"[one]\nkey='{hash_key('a')}'\nnoise_ratio=-3.0", "noise_ratio of client 'one'"),
        (f"[one]\nkey='{hash_key('a')}'\nveil=3", "veil of client 'one' must be text"),
    ],
)
def test_a_file_that_is_wrong_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "clients.toml"
    path.write_text(content)
    with pytest.raises(InvalidInputError, match=said) as raised:
        read_clients(path)
    assert "plain-text" not in str(raised.value)


def test_no_file_and_no_toml_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no file of clients"):
        read_clients(tmp_path / "missing.toml")
    (tmp_path / "bad.toml").write_text("[one")
    with pytest.raises(ArtifactError, match="TOML"):
        read_clients(tmp_path / "bad.toml")


def test_no_client_may_rerank_unless_it_is_said(tmp_path: Path) -> None:
    assert Client(name="one", queries="clean").rerank == "refuse"
    add_client(tmp_path / "clients.toml", "one")
    add_client(tmp_path / "clients.toml", "two", rerank="allow")
    clients = read_clients(tmp_path / "clients.toml").known.values()
    assert {client.name: client.rerank for client in clients} == {"one": "refuse", "two": "allow"}


def test_a_client_has_a_name() -> None:
    with pytest.raises(InvalidInputError, match="must have a name"):
        Client(name="")


@pytest.mark.parametrize("setting", ["documents", "queries", "rerank"])
def test_a_value_in_the_wrong_place_is_not_shown(setting: str) -> None:
    misplaced: dict[str, Any] = {setting: "vv-a-key-in-the-wrong-place"}
    with pytest.raises(InvalidInputError, match=f"{setting} of client 'a' must be one of") as refused:
        Client(name="a", **misplaced)
    assert "wrong-place" not in str(refused.value)
