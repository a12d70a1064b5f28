"""A server on this machine that speaks the embeddings API, well or badly."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import text_digest


@dataclass(kw_only=True)
class EmbeddingServer:
    """What the server answers, and what it was asked.

    Attributes:
        dimensions: Length of its vectors, unless a request asks for another.
        refusals: Statuses to answer the next requests with, before it answers one.
        knows_base64: Whether it heeds the wish for base64; many servers send lists of numbers all the same.
        change: Turns the answer to a request into what is sent; bytes are sent as they are.
        content_type: What it says that its answers are.
        requests: The requests so far, each as its JSON object.
        keys: The authorization that came with each.
        base_url: Its address.
    """

    dimensions: int = 8
    refusals: list[int] = field(default_factory=list)
    knows_base64: bool = True
    change: Callable[[dict[str, Any]], dict[str, Any] | bytes] = lambda answer: answer
    content_type: str = "application/json"
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    base_url: str = ""

    def vector(self, text: str, dimensions: int | None = None) -> Embeddings:
        """Return the vector of length one that the server gives to `text`."""
        seed = int.from_bytes(text_digest(text)[:8], "big")
        drawn = np.random.default_rng(seed).standard_normal(dimensions or self.dimensions)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)

    @contextmanager
    def running(self) -> Iterator[EmbeddingServer]:
        """Answer requests until the block ends."""
        with ThreadingHTTPServer(("127.0.0.1", 0), self._handler()) as server:
            thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            self.base_url = f"http://127.0.0.1:{server.server_port}/v1"
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()

    def answer(self, request: dict[str, Any]) -> bytes:
        """Return the body of the answer to one request."""
        dimensions = request.get("dimensions")
        as_text = self.knows_base64 and request.get("encoding_format") == "base64"
        vectors = [self.vector(str(text), dimensions) for text in request["input"]]
        data = [
            {"object": "embedding", "index": row, "embedding": _encoded(vector) if as_text else vector.tolist()}
            for row, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        changed = self.change({"object": "list", "model": request["model"], "data": data, "usage": usage})
        return changed if isinstance(changed, bytes) else json.dumps(changed).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        state = self

        class Handler(BaseHTTPRequestHandler):
            """Hands each request to the server's state."""

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                state.requests.append(request)
                state.keys.append(self.headers["Authorization"])
                refused = bool(state.refusals)
                # A careless service repeats what it was sent.
                body = json.dumps({"error": {"message": f"{request}"}}).encode() if refused else state.answer(request)
                self.send_response(state.refusals.pop(0) if refused else 200)
                self.send_header("Content-Type", state.content_type)
                self.send_header("Content-Length", str(len(body)))
                # Clients wait this long before they ask again.
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        return Handler


def _encoded(vector: Embeddings) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
