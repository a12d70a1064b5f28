"""Digests that say whether two things are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.errors import InvalidInputError
from vecveil.core.late import fill_digests

ROW_DIGEST_BYTES = 32


def json_digest(value: Mapping[str, Any]) -> str:
    """Return the SHA-256 of `value` written as canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def array_digest(array: NDArray[Any]) -> str:
    """Return the SHA-256 of an array's type, shape and bytes."""
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def text_digest(text: str) -> bytes:
    """Return the SHA-256 of a text, 32 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def row_digests(rows: NDArray[Any], digests: NDArray[np.uint8]) -> None:
    """Write the BLAKE2s of the bytes of each row, 32 of them, into `digests`.

    Args:
        rows: Numbers of 4 or 8 bytes, row after row.
        digests: Where they go.
    """
    if digests.shape != (len(rows), ROW_DIGEST_BYTES) or digests.dtype != np.uint8:
        # Compiled loops don't look where arrays end.
        raise InvalidInputError(f"digests of {len(rows)} rows don't fit into {digests.dtype} of shape {digests.shape}")
    whole = np.ascontiguousarray(rows)
    if len(rows) == 1:
        # A loop that works on many at a time takes longer for one.
        digests[0] = np.frombuffer(hashlib.blake2s(whole.data).digest(), dtype=np.uint8)
    else:
        fill_digests()(whole.view("<u4"), digests.view("<u4"))


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
