"""What records are called: by id and content together for their noise, by id or content for the ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import text_digest
from vecveil.core.errors import InvalidInputError, InvalidRowError


def text_contents(texts: Sequence[str]) -> list[bytes]:
    """Return the digest of each text."""
    return [text_digest(text) for text in texts]


def vector_contents(vectors: Embeddings) -> list[bytes]:
    """Return the digest of each clean vector, in the type that it came in."""
    rows = np.ascontiguousarray(vectors)
    kind = rows.dtype.newbyteorder("<")
    return [hashlib.sha256(row.astype(kind, copy=False).tobytes()).digest() for row in rows]


def id_bytes(ids: Sequence[object], *, first_row: int = 0) -> list[bytes]:
    """Return the ids as bytes; 7 and "7" are two ids."""
    found = []
    for row, value in enumerate(ids, start=first_row):
        if isinstance(value, bool) or not isinstance(value, str | int | bytes | np.integer):
            raise InvalidRowError(row, f"has no id, but {type(value).__name__}; an id is text or a whole number")
        if isinstance(value, str):
            found.append(b"s" + value.encode("utf-8", "surrogatepass"))
        else:
            found.append(b"b" + value if isinstance(value, bytes) else b"i" + str(int(value)).encode())
    return found


@dataclass(frozen=True)
class RecordBatch:
    """Some records, in order.

    Attributes:
        identities: Who they are: by id, or by content where there are no ids.
        names: What keyed noise depends on: id and content. Noise that depended on an id alone would be the same after
            the text has changed, and the difference of the two releases would be that of the clean vectors.
    """

    identities: Sequence[bytes]
    names: Sequence[bytes]

    @classmethod
    def of(cls, contents: Sequence[bytes], ids: Sequence[bytes] | None) -> RecordBatch:
        """Return the records with these contents, and with these ids where they have some."""
        if ids is None:
            return cls([b"content " + content for content in contents], contents)
        if len(ids) != len(contents):
            raise InvalidInputError(f"there must be one id per record, got {len(ids)} ids for {len(contents)} records")
        pairs = zip(contents, ids, strict=True)
        return cls(ids, [hashlib.sha256(content + name).digest() for content, name in pairs])

    def __len__(self) -> int:
        return len(self.names)
