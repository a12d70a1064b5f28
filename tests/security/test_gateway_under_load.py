"""The gateway under hostile load: others are served meanwhile, what is endless is cut, and nothing is told."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import httpx
import pytest

from support.embedding_server import EmbeddingServer
from support.gateways import MODEL, gateway_veil, log_lines, running_gateway
from support.veils import PRIVATE_WORD, with_words
from vecveil.concepts import terms
from vecveil.service.clients import add_client
from vecveil.service.server import MOST_CONNECTIONS
from vecveil.veil import Veil

PIECE = 2**16
ENDLESS = 1000
"""Pieces of what has no end; the system takes some megabytes before anyone looks at them."""

POST = b"POST /v1/embeddings HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
SOON = 5.0
"""Seconds in which a client must be answered, whatever others do."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """A gateway in a process of its own, with two clients that have keys."""

    address: str
    good: str
    bad: str
    log: list[str]

    def connect(self) -> socket.socket:
        """Return a new connection."""
        return socket.create_connection(("127.0.0.1", urlsplit(self.address).port or 0), timeout=10)

    def ask(self, texts: list[str], *, key: str, wait: float) -> int:
        """Return the status of the answer to a request, or raise where there is none in time."""
        headers = {"Authorization": f"Bearer {key}"}
        body = {"input": texts, "model": MODEL}
        return httpx.post(f"{self.address}/v1/embeddings", json=body, headers=headers, timeout=wait).status_code

    def require_service(self) -> None:
        """Raise unless the good client is answered soon, more than once."""
        for _ in range(3):
            assert self.ask([f"a note of the {PRIVATE_WORD} ward"], key=self.good, wait=SOON) == httpx.codes.OK

    def flood(self, start: bytes, piece: bytes) -> int:
        """Return how many bytes could be sent before the connection was cut."""
        sent = 0
        with self.connect() as connection, contextlib.suppress(OSError):
            connection.sendall(start)
            for _ in range(ENDLESS):
                connection.sendall(piece)
                sent += len(piece)
        return sent

    def answer(self, request: bytes) -> bytes:
        """Return the first bytes of the answer to a request."""
        with self.connect() as connection:
            connection.sendall(request)
            return connection.recv(1000)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("load")
    clients = place / "clients.toml"
    keys = {name: add_client(clients, name) for name in ("good", "bad")}
    with EmbeddingServer().running() as server, _running(place, server, "--clients", clients) as (address, log):
        yield Served(address=address, log=log, **keys)
    told = "".join(log)
    assert "Traceback" not in told
    assert PRIVATE_WORD not in told
    assert {line["event"] for line in log_lines(told)} == {"serving", "request", "Invalid HTTP request received."}
    assert not [line for line in log_lines(told) if line.get("status", 0) >= 500]


@contextlib.contextmanager
def _running(place: Path, server: EmbeddingServer, *options: object) -> Iterator[tuple[str, list[str]]]:
    """Yield a gateway's address and its log, which is read all the time, or the gateway would wait for a reader."""
    veil = with_words(Veil.load(gateway_veil(place / "plain.veil")), terms(PRIVATE_WORD, "ward"))
    veil.save(place / "a.veil", overwrite=True)
    environment = {"XDG_DATA_HOME": str(place / "data"), "VECVEIL_LEDGER": str(place / "ledger.sqlite")}
    log: list[str] = []

    def read(process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        log.extend(process.stderr)

    arguments = (place / "a.veil", "--upstream", server.base_url, *options)
    with running_gateway(*arguments, environment=environment) as (address, process):
        reader = Thread(target=read, args=(process,))
        reader.start()
        try:
            yield address, log
        finally:
            process.kill()
            reader.join()


@pytest.fixture
def many() -> Iterator[int]:
    """More connections than the gateway keeps, as far as the system allows them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 8192 and hard > 0 else 8192, hard))
    yield min(MOST_CONNECTIONS + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"a" * PIECE),
        (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X: a\r\n" * (PIECE // 6)),
        (b"GET /", b"a" * PIECE),
        (POST + CHUNKED + b"1;", b"a" * PIECE),
        (POST + CHUNKED, b"0" * PIECE),
        (POST + CHUNKED + b"1\r\na\r\n0\r\n", b"X: " + b"a" * PIECE + b"\r\n"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01", b"\x00" * PIECE),
    ],
    ids=["header", "lines", "address", "chunk extension", "chunk size", "trailers", "tls"],
)
def test_what_has_no_end_is_cut(served: Served, start: bytes, piece: bytes) -> None:
    assert served.flood(start, piece) < ENDLESS * PIECE // 2
    served.require_service()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: a\r\n" * 101 + b"\r\n", b"431"),
        (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 2**16 + b"\r\n\r\n", b"431"),
        (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (b"CONNECT other:80 HTTP/1.1\r\nHost: other\r\n\r\n", b"400"),
        (b"no request\r\n\r\n", b"400"),
    ],
    ids=["many lines", "long header", "two lengths", "connect", "nonsense"],
)
def test_what_is_no_request_is_told_so_in_openais_form(served: Served, request_: bytes, status: bytes) -> None:
    answer = served.answer(request_)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b'{"error":{"message":' in answer


@pytest.mark.parametrize(
    "start",
    [b"", b"GET /health HTTP/1.1\r\nX", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"],
    ids=["half-open", "unfinished header", "body never sent"],
)
def test_connections_that_wait_do_not_keep_others_out(served: Served, many: int, start: bytes) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(many):
            connection = held.enter_context(served.connect())
            with contextlib.suppress(OSError):
                connection.sendall(start)
        served.require_service()


def test_bodies_that_are_never_finished_hold_nothing_of_others(served: Served) -> None:
    start = POST + f"Authorization: Bearer {served.bad}\r\nContent-Length: 30000000\r\n\r\n".encode()
    with contextlib.ExitStack() as held:
        for _ in range(300):
            connection = held.enter_context(served.connect())
            with contextlib.suppress(OSError):
                connection.sendall(start + b"a" * 100_000)
        served.require_service()
        # The client itself has as many requests in work as it may.
        assert served.ask(["a note"], key=served.bad, wait=SOON) == httpx.codes.TOO_MANY_REQUESTS


def test_long_private_texts_of_one_client_do_not_hold_up_another(served: Served) -> None:
    texts = [f"{number} ward {PRIVATE_WORD} " * 4000 for number in range(20)]
    body = json.dumps({"input": texts, "model": MODEL}).encode()
    start = POST + f"Authorization: Bearer {served.bad}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with contextlib.ExitStack() as held:
        for _ in range(8):
            held.enter_context(served.connect()).sendall(start + body)
        # The texts of the other take half a minute; nobody waits for them here.
        served.require_service()


def test_metrics_name_no_client(served: Served) -> None:
    assert served.ask(["a note"], key=served.good, wait=SOON) == httpx.codes.OK
    metrics = httpx.get(f"{served.address}/metrics").text
    assert 'vecveil_vectors_total{treatment="protect"}' in metrics
    assert not [line for line in metrics.splitlines() if "good" in line or "bad" in line]


def test_without_keys_only_this_machine_is_answered_by_its_own_names(tmp_path: Path) -> None:
    with EmbeddingServer().running() as server, _running(tmp_path, server) as (address, _):
        body = {"input": ["a note"], "model": MODEL}
        for headers, status in (
            ({}, 200),
            ({"Host": "localhost:1"}, 200),
            ({"Host": "evil.example"}, 403),
            ({"Host": "127.0.0.1.evil.example"}, 403),
            ({"Host": ""}, 403),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "null"}, 403),
        ):
            for path in ("/metrics", "/v1/models"):
                assert httpx.get(f"{address}{path}", headers=headers).status_code == status
            assert httpx.post(f"{address}/v1/embeddings", json=body, headers=headers).status_code == status
