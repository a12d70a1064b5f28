"""Digests that say whether two things are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from vecveil.core.errors import InvalidInputError
from vecveil.core.late import fill_digests

DIGEST_BYTES = 32


class Digests(Sequence[bytes]):
    """Digests of 32 bytes each, in one piece: to make an object of each takes as long as a tenth of the noise."""

    def __init__(self, rows: NDArray[np.uint8]) -> None:
        """Take them as the rows of an array."""
        if rows.ndim != 2 or rows.shape[1] != DIGEST_BYTES or rows.dtype != np.uint8:
            raise InvalidInputError(
                f"digests must be rows of {DIGEST_BYTES} bytes, got {rows.dtype} of shape {rows.shape}"
            )
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> Digests: ...

    def __getitem__(self, place: int | slice) -> bytes | Digests:
        return Digests(self._rows[place]) if isinstance(place, slice) else self._rows[index(place)].tobytes()

    def tobytes(self) -> bytes:
        """Return all of them, one after the other."""
        return self._rows.tobytes()


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
    if digests.shape != (len(rows), DIGEST_BYTES) or digests.dtype != np.uint8:
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
