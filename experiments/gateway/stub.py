"""A stub of an embeddings server: it answers at once, with the same vectors for the same number of inputs.

uvicorn --app-dir experiments/gateway stub:app --port 9100 --log-level warning
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

DIMENSIONS, MOST = 384, 64
_rows = np.random.default_rng(0).standard_normal((MOST, DIMENSIONS)).astype("<f4")
_rows /= np.linalg.norm(_rows, axis=1, keepdims=True)
WRITTEN = [base64.b64encode(row).decode() for row in _rows]


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer one request."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    inputs = len(json.loads(body)["input"])
    data = [{"object": "embedding", "index": row, "embedding": WRITTEN[row % MOST]} for row in range(inputs)]
    answer = {"object": "list", "data": data, "model": "stub", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})
