"""Reading what an embeddings API answers, trusting nothing of it."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import EndpointError


def read_answer(answer: Any, *, rows: int, dimensions: int | None, host: str) -> Embeddings:
    """Return the vectors of an answer as float32 rows, in the order of the request.

    Args:
        answer: What the client made of the answer; anything at all where the service misbehaves.
        rows: How many texts were sent.
        dimensions: How many dimensions were asked for; None is any number.
        host: What to call the service in an error.

    Raises:
        EndpointError: If there is not one finite vector of the right length for every text.
    """
    entries = getattr(answer, "data", None)
    if not isinstance(entries, list):
        raise EndpointError(f"{host} answered with something that is no list of embeddings")
    if len(entries) != rows:
        raise EndpointError(f"{host} answered with {len(entries)} embeddings for {rows} texts")
    by_index = {getattr(entry, "index", None): entry for entry in entries}
    if set(by_index) != set(range(rows)):
        raise EndpointError(f"{host} did not number its embeddings from 0 to {rows - 1}")
    vectors = [_decoded(getattr(by_index[row], "embedding", None), host) for row in range(rows)]
    lengths = {len(vector) for vector in vectors}
    if len(lengths) != 1 or lengths == {0}:
        raise EndpointError(f"{host} answered with embeddings of {sorted(lengths)} dimensions")
    if dimensions is not None and lengths != {dimensions}:
        raise EndpointError(f"{host} answered with {lengths.pop()} dimensions, asked for {dimensions}")
    stacked = np.stack(vectors)
    if not np.isfinite(stacked).all():
        raise EndpointError(f"{host} answered with NaN or infinite numbers")
    return stacked


def _decoded(value: Any, host: str) -> NDArray[np.float32]:
    # Services that do not know base64 ignore the wish and send lists of numbers.
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
        with np.errstate(over="ignore"):
            vector = np.asarray(value, dtype=np.float32)
    except (ValueError, TypeError):
        raise EndpointError(f"{host} answered with an embedding that is no list of numbers") from None
    if vector.ndim != 1:
        raise EndpointError(f"{host} answered with an embedding that is no list of numbers")
    return vector
