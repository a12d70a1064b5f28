"""`vecveil serve`, up to the moment at which it would listen; gateways that run are tried in `end_to_end`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.command_line import CommandLine, check_refusal, finished, listing, start
from support.gateways import gateway_veil
from vecveil.core.key import Key
from vecveil.files.key_file import read_key, write_key
from vecveil.service.gateway import Gateway
from vecveil.veil import Guard, Veil

UPSTREAM = ("--upstream", "http://127.0.0.1:9/v1")
SERVE = ("serve", "a.veil", *UPSTREAM)


@pytest.fixture
def started(work: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What would be served, and where; a veil, a key, and the user's own folder in the working folder."""
    gateway_veil(work / "a.veil")
    write_key(Key.new(), work / "a.key")
    monkeypatch.setattr("vecveil.core.folders.data_folder", lambda: work / "data")
    found: dict[str, Any] = {}

    def serve(gateway: Gateway, *, host: str, port: int) -> None:
        found.update(gateway=gateway, host=host, port=port)

    def make_gateway(clients: Any, guard: Guard, settings: Any) -> Any:
        found.update(clients=clients, guard=guard, settings=settings)

    monkeypatch.setattr("vecveil.service.server.serve", serve)
    monkeypatch.setattr(Gateway, "for_clients", make_gateway)
    return found


def test_options_reach_guard_and_gateway(run: CommandLine, started: dict[str, Any]) -> None:
    options = "--key a.key --grid int8 --noise-ratio 0.5 --ledger book.sqlite --host localhost --port 0"
    limits = "--timeout 7 --max-body 2 --max-held 4 --tokens p50k_base --upstream-model m --upstream-key-env MY_KEY"
    fair = "--max-text 9 --texts-per-minute 8 --metrics-clients --seal-key seal.key"
    outcome = run(*SERVE, *options.split(), *limits.split(), *fair.split())
    assert outcome.code == 0, outcome.err
    assert (started["host"], started["port"]) == ("localhost", 0)
    guard, settings = started["guard"], started["settings"]
    assert guard.release.mechanism.epsilon == pytest.approx(Veil.load("a.veil").epsilon_for(noise_ratio=0.5))
    assert (str(guard.key), guard.grid, guard.ledger) == ("a.key", "int8", "book.sqlite")
    assert str(guard.seal_key) == "seal.key"
    assert (settings.upstream, settings.upstream_model, settings.upstream_key_env) == (UPSTREAM[1], "m", "MY_KEY")
    assert (settings.timeout, settings.encoding) == (7.0, "p50k_base")
    assert (settings.body_bytes, settings.held_bytes) == (2 * 2**20, 4 * 2**20)
    assert (settings.text_characters, settings.texts_per_minute, settings.metrics_clients) == (9, 8.0, True)


def test_what_is_promised_and_that_everybody_may_ask_is_said_at_the_start(
    run: CommandLine, started: dict[str, Any]
) -> None:
    outcome = run(*SERVE, "--key", "a.key")
    assert "noise-to-signal" in outcome.err
    assert "no bearer keys are set: every program on this machine may ask" in outcome.err
    run("client", "new", "clients.toml", "one")
    assert "no bearer keys" not in run(*SERVE, "--key", "a.key", "--clients", "clients.toml").err
    assert not started["clients"].open


def test_a_key_is_made_at_the_first_start_and_used_again(run: CommandLine, started: dict[str, Any], work: Path) -> None:
    first = run(*SERVE)
    [path] = (work / "data" / "keys").iterdir()
    assert f"a key for this veil was made: {path}; keep a copy of it" in first.err
    key = read_key(path)
    assert started["guard"].key == path
    assert "was made" not in run(*SERVE).err
    assert read_key(path) == key


def test_fresh_noise_takes_no_key(run: CommandLine, started: dict[str, Any], work: Path) -> None:
    assert run(*SERVE, "--fresh-noise", "--no-ledger").code == 0
    assert (started["guard"].key, started["guard"].release.ledger) == (None, None)
    assert not (work / "data").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--key", "a.key", "--fresh-noise"), ("got --fresh-noise and --key",)),
        (("--key", "none.key"), ("no key file none.key",)),
        (("--host", "0.0.0.0"), ("0.0.0.0 can be reached by others",)),  # noqa: S104
        (("--clients", "none.toml"), ("there is no file of clients none.toml",)),
        (("--epsilon", "3", "--noise-ratio", "1"), ("give one budget",)),
        (("--max-held", "1"), ("--max-held", "--max-body")),
        (("--timeout", "0"), ("timeout must be",)),
        (("--port", "70000"), ("70000",)),
    ],
)
def test_what_can_be_wrong_is_one_line_and_nothing_is_served(
    run: CommandLine, started: dict[str, Any], work: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    before = listing(work)
    check_refusal(run(*SERVE, *(() if "--key" in options else ("--key", "a.key")), *options), *named)
    assert listing(work) == before
    assert "host" not in started


def test_a_missing_library_is_named_with_its_extra(work: Path) -> None:
    outcome = finished(start(*SERVE, before="import sys; sys.modules['fastapi'] = None"))
    check_refusal(outcome, "fastapi", "vecveil[serve]")
