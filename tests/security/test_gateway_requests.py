"""Random requests to the gateway: none may fail it, or bring a text into its log."""

from __future__ import annotations

import base64
import json
import logging
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import llama_index.core
import numpy as np
import pytest
from fastapi.testclient import TestClient

from support.embedding_server import EmbeddingServer
from support.gateways import MODEL, gateway_veil
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


def send_random_requests(place: Path, *, requests: int, seed: int = 0) -> Counter[int]:
    """Send random requests to some gateways, and return how often each status was the answer.

    Args:
        place: Folder for their veil and ledger.
        requests: How many.
        seed: Which ones.

    Raises:
        AssertionError: If the gateway fails, answers in another form than OpenAI's, or a text is in its log.
    """
    rng, statuses = random.Random(seed), Counter[int]()  # noqa: S311
    with _clients(place) as clients, _log() as log:
        for number in range(requests):
            method, path = "POST", "/v1/embeddings"
            if rng.random() < 0.05:
                method = rng.choice(["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
            if rng.random() < 0.05:
                path = rng.choice(
                    ["/v1/models", f"/v1/models/{PRIVATE_WORD}%00%ff", "/health", "/metrics", "//", "/v1/"]
                )
            body, headers = random_body(rng), random_headers(rng)
            answer = rng.choice(clients).request(method, path, content=body, headers=headers)
            statuses[answer.status_code] += 1
            try:
                _check_answer(answer)
                assert not [line for line in log if PRIVATE_WORD in line or "Traceback" in line]
            except AssertionError as error:
                raise AssertionError(f"request {number} of seed {seed}: {method} {path} {body[:300]!r}") from error
    return statuses


def _check_answer(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text
    assert PRIVATE_WORD not in answer.text
    if answer.request.method == "HEAD":
        return
    if answer.status_code >= 400:
        assert {*answer.json()["error"]} == {"message", "type", "param", "code"}
    elif answer.request.url.path == "/v1/embeddings":
        for place, entry in enumerate(answer.json()["data"]):
            assert entry["index"] == place
            row = entry["embedding"]
            vector = np.frombuffer(base64.b64decode(row), "<f4") if isinstance(row, str) else np.asarray(row)
            assert vector.shape == (DIMENSIONS,)
            assert np.isfinite(vector).all()


@contextmanager
def _clients(place: Path) -> Iterator[list[TestClient]]:
    """Yield clients of three gateways.

    One keeps private words and passes tokens on. One takes words out, so that many texts are one vector, which its
    ledger refuses. One draws words anew, and has no candidates for some.
    """
    guard = Guard(gateway_veil(place / "a.veil"), key=Key.new(), ledger=place / "ledger.sqlite")
    removed = replace(without_words(guard, terms(PRIVATE_WORD, "Anna", "1", "2")), ledger=place / "strict.sqlite")
    drawn = build_substitution("randomize", {"candidates": {"DISEASE": [PRIVATE_WORD, "gout"]}})
    concept = terms(PRIVATE_WORD, label="DISEASE") | terms("Anna", label="PERSON")
    randomized = replace(guard, veil=replace(guard.opened_veil, concept=concept, substitution=drawn))
    with open_ledger(place / "strict.sqlite") as ledger:
        ledger.set_renamed("refuse")
    with ExitStack() as opened, pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("TIKTOKEN_CACHE_DIR", str(TOKEN_TABLES))
        server = opened.enter_context(EmbeddingServer().running())
        settings = Settings(upstream=server.base_url, texts_per_minute=1e9, text_characters=20_000)
        apps = [
            create_app(Gateway.for_clients(Clients.everybody(), one, settings)) for one in (guard, removed, randomized)
        ]
        yield [
            opened.enter_context(TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False))
            for app in apps
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


def test_random_requests_are_answered_or_refused(tmp_path: Path) -> None:
    statuses = send_random_requests(tmp_path, requests=400)
    assert statuses[200] > 50
    assert statuses[400] > 50
