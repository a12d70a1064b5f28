"""Random requests to the gateway: none may fail it, or bring a text into its log."""

from __future__ import annotations

import base64
import json
import logging
import random
import socket
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import httpx
import llama_index.core
import numpy as np
import pytest
from fastapi.testclient import TestClient

from redteam.campaign import Campaign
from support.embedding_server import EmbeddingServer
from support.gateways import MODEL, gateway_veil, log_lines, running_gateway
from support.guards import without_words
from support.veils import PRIVATE_WORD
from vecveil.concepts import terms
from vecveil.core.key import Key
from vecveil.ledger import open_ledger
from vecveil.service.app import create_app
from vecveil.service.clients import Clients
from vecveil.service.gateway import Gateway, Settings
from vecveil.substitutions import build_substitution
from vecveil.veil import Guard

TOKEN_TABLES = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
"""The table of cl100k_base, which is fetched from the network otherwise."""

DIMENSIONS = 8
FAULTS = 0.05
"""Share of requests for which the upstream fails."""

ON_THE_WIRE = 0.2
"""Share of requests that are sent as bytes, broken ones too, to a gateway in a process of its own."""

OUTCOMES = {0: "no answer to half a request", 2: "answered", 4: "refused", 5: "failed with the upstream"}

TEXTS = [
    f"a note on {PRIVATE_WORD}",
    PRIVATE_WORD,
    f"{PRIVATE_WORD}\u202e{PRIVATE_WORD}\x00\x1b[2J",
    "naïve ﬁancée 東京 🙂‍↔️ e\u0301",
    f"{PRIVATE_WORD} " * 300,
    "\ufeff" + PRIVATE_WORD,
    "",
    " \t\n",
    "\u200b",
    f"'; DROP TABLE releases; -- {PRIVATE_WORD}",
]
NUMBERS = [0, 1, -1, 7, 8, 8.0, 8.5, 2**31, 2**63, 2**64, -(2**70), 10**400, 1e308, 1e-320, True, False]
ODD = [
    None,
    {},
    [],
    [[]],
    "8",
    {"text": PRIVATE_WORD},
    [{"text": PRIVATE_WORD}],
    [None],
    ["a", 1],
    [1, "a"],
    [[1], "a"],
]


def random_input(rng: random.Random) -> Any:
    """Return what may stand as the input of a request, good or bad."""
    if rng.random() < 0.3:
        return [f"{rng.randrange(9)} {PRIVATE_WORD}, {rng.choice(['Anna', 'nobody'])}" for _ in range(rng.randrange(4))]
    size = rng.choice([0, 1, 2, 3, 64, 65, 2048, 2049]) if rng.random() < 0.1 else rng.randrange(1, 4)
    choices: list[Callable[[], Any]] = [
        lambda: rng.choice(TEXTS),
        lambda: [rng.choice(TEXTS) for _ in range(size)],
        lambda: [f"{number} {PRIVATE_WORD}" for number in range(size)],
        lambda: [rng.choice([rng.randrange(100_300), *NUMBERS]) for _ in range(size)],
        lambda: [[rng.randrange(100_300) for _ in range(rng.randrange(4))] for _ in range(size)],
        lambda: [rng.randrange(50_000)] * rng.choice([1, 8192, 8193]),
        lambda: rng.choice(NUMBERS),
        lambda: rng.choice(ODD),
        lambda: "".join(chr(rng.choice([rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)])) for _ in range(size)),
    ]
    return rng.choice(choices)()


def random_body(rng: random.Random) -> bytes:
    """Return the body of a request: often one that is answered, often nearly one, sometimes none at all."""
    body: dict[str, Any] = {"input": random_input(rng), "model": MODEL}
    for name, values in (
        ("model", [f"{MODEL}:query", f"{MODEL}:document", PRIVATE_WORD, "", "a" * 300, *ODD]),
        ("encoding_format", ["float", "base64", None, PRIVATE_WORD, *ODD]),
        ("dimensions", [DIMENSIONS, None, *NUMBERS, *ODD]),
        ("user", [PRIVATE_WORD, None, *NUMBERS, *ODD]),
        (PRIVATE_WORD, [PRIVATE_WORD, *ODD]),
    ):
        if rng.random() < 0.1:
            body[name] = rng.choice(values)
    if rng.random() < 0.05:
        body.pop(rng.choice([*body]))
    written = json.dumps(body if rng.random() < 0.95 else rng.choice([[body], *ODD, *NUMBERS]))
    written = written.replace("e+308", rng.choice(["e+308", "e+999"]))
    if rng.random() < 0.85:
        return written.encode()
    broken: list[Callable[[], bytes]] = [
        lambda: written.encode()[: rng.randrange(len(written))],
        lambda: written.encode("utf-16"),
        lambda: b"\xef\xbb\xbf" + written.encode(),
        lambda: written.replace(PRIVATE_WORD, "\\ud800").encode(),
        lambda: written.encode().replace(PRIVATE_WORD.encode(), b"\xff\xfe"),
        lambda: written.replace(PRIVATE_WORD, "\x00").encode(),
        lambda: written.replace("null", "NaN").replace("{}", "Infinity").encode(),
        lambda: written.replace("{", '{"input": "a", ', 1).encode(),
        lambda: b"[" * 50_000 + written.encode(),
        lambda: b'{"input":' * 5_000,
        lambda: b"9" * 10_000,
        lambda: b"",
        lambda: rng.randbytes(rng.randrange(1, 200)),
    ]
    return rng.choice(broken)()


def random_headers(rng: random.Random) -> dict[str, str | bytes]:
    """Return headers as clients send them, and some that none does."""
    headers: dict[str, str | bytes] = {}
    for name, values in (
        ("Content-Type", ["application/json", "text/plain", "multipart/form-data; boundary=x", "", PRIVATE_WORD]),
        ("Authorization", ["Bearer any", "Bearer", "Basic YQ==", PRIVATE_WORD, b"Bearer \xff\xfe"]),
        ("Content-Encoding", ["gzip", "identity"]),
        ("Accept", ["text/html", "*/*"]),
        ("Host", ["localhost", "127.0.0.1:1", "evil.example", "[::1", ""]),
        ("Origin", ["http://localhost", "null", "http://[", PRIVATE_WORD]),
        ("X-Request-Id", [PRIVATE_WORD]),
    ):
        if rng.random() < 0.04:
            headers[name] = rng.choice(values)
    return headers


def random_fault(rng: random.Random, server: EmbeddingServer) -> bool:
    """Have the upstream fail the next request at times, and return whether it will."""
    if rng.random() >= FAULTS:
        return False
    server.refusals[:] = [rng.choice([400, 401, 403, 404, 413, 429, 500, 503])] if rng.random() < 0.5 else []
    if not server.refusals:
        server.change = rng.choice(BAD_ANSWERS)
    return True


def _spoil(value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what puts a value in the place of the first vector of an answer."""

    def change(answer: dict[str, Any]) -> dict[str, Any]:
        first, *others = answer["data"]
        return {**answer, "data": [{**first, "embedding": value}, *others]}

    return change


BAD_ANSWERS: list[Callable[[dict[str, Any]], dict[str, Any] | bytes]] = [
    lambda _: b"",
    lambda _: b"<html>" + PRIVATE_WORD.encode(),
    lambda _: b"[" * 100_000,
    lambda _: {},
    lambda answer: {**answer, "data": []},
    lambda answer: {**answer, "data": [*answer["data"], *answer["data"]]},
    lambda answer: {**answer, "data": PRIVATE_WORD},
    _spoil([float("nan")] * DIMENSIONS),
    _spoil([0.0] * DIMENSIONS),
    _spoil([1e300] * DIMENSIONS),
    _spoil([1.0] * (DIMENSIONS + 1)),
    _spoil(PRIVATE_WORD),
    _spoil(None),
]


def test_random_requests_are_answered_or_refused(
    tmp_path: Path, campaign: Callable[[str], AbstractContextManager[Campaign]]
) -> None:
    """Each request goes to a gateway; for some of them the upstream fails, and only those may end in 502 to 504."""
    with campaign("requests") as tried, EmbeddingServer().running() as server:
        with _clients(tmp_path, server) as clients, _log() as log, _on_the_wire(tmp_path) as wire:
            for number in tried.numbers():
                rng = tried.rng(number)
                tried.counts["cases"] += 1
                with tried.case(number) as said:
                    if rng.random() < ON_THE_WIRE:
                        sent = random_bytes(rng)
                        said.append(repr(sent[:300]))
                        tried.counts["on the wire"] += 1
                        tried.counts[OUTCOMES[wire.send(sent) // 100]] += 1
                    else:
                        faulty = random_fault(rng, server)
                        _send(rng, clients, tried, said, log, faulty=faulty)
                server.refusals.clear()
                server.change = EmbeddingServer.change
            with tried.case(-1):
                wire.require_quiet()
                _require_all_on_record(tmp_path / "ledger.sqlite", clients[0])
        if tried.only is None:
            assert tried.counts["answered"] > tried.wanted / 10
            assert tried.counts["refused"] > tried.wanted / 10
            assert tried.counts["failed with the upstream"] > 0


def _send(
    rng: random.Random,
    clients: list[GatewayClient],
    tried: Campaign,
    said: list[str],
    log: list[str],
    *,
    faulty: bool,
) -> None:
    method, path = "POST", "/v1/embeddings"
    if rng.random() < 0.05:
        method = rng.choice(["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
    if rng.random() < 0.05:
        path = rng.choice(["/v1/models", f"/v1/models/{PRIVATE_WORD}%00%ff", "/health", "/metrics", "//", "/v1/"])
    body, headers = random_body(rng), random_headers(rng)
    said.append(f"{method} {path} {body[:300]!r}")
    gateway = rng.choice(clients)
    log.clear()
    answer = gateway.client.request(method, path, content=body, headers=headers)
    tried.counts[OUTCOMES[answer.status_code // 100]] += 1
    gateway.answered += _check_answer(answer, faulty=faulty)
    assert not [line for line in log if PRIVATE_WORD in line or "Traceback" in line]


def _check_answer(answer: httpx.Response, *, faulty: bool) -> int:
    """Return how many vectors are in an answer, or raise where it is none that may be given."""
    assert answer.status_code < 500 or (faulty and answer.status_code in {502, 503, 504}), answer.text
    assert PRIVATE_WORD not in answer.text
    if answer.request.method == "HEAD":
        return 0
    if answer.status_code >= 400:
        assert {*answer.json()["error"]} == {"message", "type", "param", "code"}
        assert answer.json()["error"]["message"]
        return 0
    if answer.request.url.path != "/v1/embeddings":
        return 0
    entries = answer.json()["data"]
    for place, entry in enumerate(entries):
        assert entry["index"] == place
        row = entry["embedding"]
        vector = np.frombuffer(base64.b64decode(row), "<f4") if isinstance(row, str) else np.asarray(row)
        assert vector.shape == (DIMENSIONS,)
        assert np.isfinite(vector).all()
    return len(entries)


def _require_all_on_record(ledger: Path, gateway: GatewayClient) -> None:
    """Raise unless every vector that left is on record, once, and no record was charged twice for equal bytes."""
    with open_ledger(ledger) as opened:
        totals = opened.totals()
        assert totals.releases == gateway.answered
        assert opened.problems() == []
    # A side charges a record once for each of its vectors: texts that differ in case alone are one record, and may have
    # several.
    twice = "SELECT 1 FROM releases GROUP BY record, run, vector HAVING COUNT(DISTINCT token) > 1"
    with closing(sqlite3.connect(ledger)) as database:
        assert database.execute(twice).fetchall() == []


@dataclass(kw_only=True)
class GatewayClient:
    """A client of one gateway, what its vectors cost, and how many it was given."""

    client: TestClient
    cost: float
    answered: int = 0


@contextmanager
def _clients(place: Path, server: EmbeddingServer) -> Iterator[list[GatewayClient]]:
    """Yield clients of three gateways.

    One keeps private words and passes tokens on. One takes words out, so that many texts are one vector, which its
    ledger refuses. One draws words anew, and has no candidates for some.
    """
    guard = Guard(gateway_veil(place / "a.veil"), key=Key.new(), ledger=place / "ledger.sqlite")
    removed = replace(without_words(guard, terms(PRIVATE_WORD, "Anna", "1", "2")), ledger=place / "strict.sqlite")
    drawn = build_substitution("randomize", {"candidates": {"DISEASE": [PRIVATE_WORD, "gout"]}})
    concept = terms(PRIVATE_WORD, label="DISEASE") | terms("Anna", label="PERSON")
    veil = replace(guard.opened_veil, concept=concept, substitution=drawn)
    randomized = replace(guard, veil=veil, ledger=place / "drawn.sqlite")
    with open_ledger(place / "strict.sqlite") as ledger:
        ledger.set_renamed("refuse")
    with ExitStack() as opened, pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("TIKTOKEN_CACHE_DIR", str(TOKEN_TABLES))
        settings = Settings(upstream=server.base_url, texts_per_minute=1e9, text_characters=20_000)
        yield [
            GatewayClient(
                client=opened.enter_context(
                    TestClient(
                        create_app(Gateway.for_clients(Clients.everybody(), one, settings)),
                        base_url="http://127.0.0.1",
                        raise_server_exceptions=False,
                    )
                ),
                cost=one.release.mechanism.euclidean_loss(),
            )
            for one in (guard, removed, randomized)
        ]


@contextmanager
def _log() -> Iterator[list[str]]:
    """Yield what is logged by anyone, with tracebacks, but for the client that sends the requests."""
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not record.name.startswith(("httpx", "httpcore", "asyncio")):
                lines.append(f"{self.format(record)} {record.__dict__.get('facts')}")

    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def random_bytes(rng: random.Random) -> bytes:
    """Return a request as it goes over the wire, broken somewhere or whole."""
    body = random_body(rng) if rng.random() < 0.8 else b""
    head = [
        rng.choice(["POST /v1/embeddings HTTP/1.1", "GET /health HTTP/1.1", "POST /v1/embeddings HTTP/1.0"]),
        "Host: 127.0.0.1",
        rng.choice([f"Content-Length: {len(body)}"] * 4 + ["Content-Length: -1", "Transfer-Encoding: chunked"]),
        *(f"{name}: {value}" for name, value in random_headers(rng).items() if isinstance(value, str)),
        "Connection: close",
    ]
    written = bytearray("\r\n".join(head).encode() + b"\r\n\r\n" + body[:50_000])
    for _ in range(rng.choice([0, 0, 1, 1, 2, 8])):
        start = rng.randrange(min(len(written), 400))
        end = start + rng.randrange(1, 20)
        written[start:end] = rng.choice([b"", rng.randbytes(3), b"\r\n", b"\0", bytes(written[start:end]) * 2])
    return bytes(written)


@dataclass(frozen=True, kw_only=True)
class Wire:
    """A gateway in a process of its own, and its log."""

    address: tuple[str, int]
    log: list[str]

    def send(self, request: bytes) -> int:
        """Return the status of the answer to some bytes; 0 where there is none, as they may promise more to come."""
        with socket.create_connection(self.address, timeout=1.0) as connection, suppress(OSError):
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := connection.recv(2**16):
                answer += piece
            assert PRIVATE_WORD.encode() not in answer
            if answer:
                status = int(answer.split(b" ", 2)[1])
                assert status < 500, answer[:500]
                return status
        return 0

    def require_quiet(self) -> None:
        """Raise where the log holds a text, a traceback or a failure, or the gateway is gone."""
        assert httpx.get(f"http://{self.address[0]}:{self.address[1]}/health").status_code == httpx.codes.OK
        told = "".join(self.log)
        assert PRIVATE_WORD not in told
        assert "Traceback" not in told
        failed = [line for line in log_lines(told) if line.get("status", 0) >= 500 or line["event"] == "failed"]
        assert not failed, f"{failed}"


@contextmanager
def _on_the_wire(place: Path) -> Iterator[Wire]:
    """Yield a gateway whose upstream never fails: what was sent to it may be in work when the next case begins."""
    log: list[str] = []
    environment = {"XDG_DATA_HOME": str(place / "data"), "VECVEIL_LEDGER": str(place / "wire.sqlite")}
    with EmbeddingServer().running() as server, ExitStack() as opened:
        options = (gateway_veil(place / "wire.veil"), "--upstream", server.base_url, "--texts-per-minute", "1e9")
        address, process = opened.enter_context(running_gateway(*options, environment=environment))
        assert process.stderr is not None
        reader = Thread(target=log.extend, args=(process.stderr,))
        reader.start()
        try:
            found = urlsplit(address)
            yield Wire(address=(str(found.hostname), int(found.port or 0)), log=log)
        finally:
            process.kill()
            reader.join()
