from __future__ import annotations

from pathlib import Path

from support.command_line import CommandLine, check_refusal, listing
from vecveil.service.clients import Client, hash_key, read_clients


def test_the_key_is_shown_once_and_only_its_hash_is_kept(run: CommandLine, work: Path) -> None:
    outcome = run("client", "new", "clients.toml", "search-team")
    assert outcome.code == 0, outcome.err
    key = outcome.out.strip()
    assert "search-team was added to clients.toml; the key above is shown this once" in outcome.err
    assert key not in (work / "clients.toml").read_text()
    found = read_clients(work / "clients.toml").find(f"Bearer {key}")
    assert found == Client(name="search-team", key=hash_key(key))


def test_every_rule_of_a_client_has_an_option(run: CommandLine, work: Path) -> None:
    options = "--veil a.veil --noise-ratio 0.5 --query-epsilon 3 --documents refuse --queries clean"
    key = run("client", "new", "clients.toml", "one", *options.split()).out.strip()
    budgets = "--paper-epsilon 5 --query-noise-ratio 2 --texts-per-minute 60 --collection all --rerank allow"
    other = run("client", "new", "clients.toml", "two", *budgets.split()).out.strip()
    third = run("client", "new", "clients.toml", "three", "--epsilon", "9", "--query-paper-epsilon", "4").out.strip()
    clients = read_clients(work / "clients.toml").known
    assert clients == {
        hash_key(key): Client(
            name="one",
            key=hash_key(key),
            veil="a.veil",
            noise_ratio=0.5,
            query_epsilon=3.0,
            documents="refuse",
            queries="clean",
        ),
        hash_key(other): Client(
            name="two",
            key=hash_key(other),
            paper_epsilon=5.0,
            query_noise_ratio=2.0,
            rerank="allow",
            texts_per_minute=60.0,
            collection="all",
        ),
        hash_key(third): Client(name="three", key=hash_key(third), epsilon=9.0, query_paper_epsilon=4.0),
    }


def test_a_wrong_client_is_refused_and_nothing_is_written(run: CommandLine, work: Path) -> None:
    run("client", "new", "clients.toml", "one")
    before = listing(work)
    check_refusal(run("client", "new", "clients.toml", "one"), "has a client 'one' already")
    check_refusal(run("client", "new", "clients.toml", "two", "--epsilon", "0"), "epsilon of client 'two'", "0.0")
    check_refusal(run("client", "new", "clients.toml", "two", "--documents", "clean"), "'clean'", "refuse")
    assert listing(work) == before
