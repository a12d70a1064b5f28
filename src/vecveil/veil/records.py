"""What records are called: by id and content together for their noise, by id or content for the ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import DIGEST_BYTES, Digests, row_digests, text_digest
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.core.room import KeptRoom
from vecveil.core.threads import in_blocks
from vecveil.embedders import Embedder, inputs_of

BLOCK_ROWS = 256
"""Vectors that are looked at together."""

CONTENT = b"content "
"""Ids begin with another letter."""


def text_contents(texts: Sequence[str]) -> list[bytes]:
    """Return the digest of each text."""
    return [text_digest(text) for text in texts]


def vector_contents(vectors: Embeddings) -> Digests:
    """Return the digest of the numbers in each clean vector.

    Those are taken as float32 where that holds all of their digits, and as float64 where it does not. So the same
    numbers in a file of either kind are one record; 0 and -0 are, too.
    """
    digests, room = np.empty((len(vectors), DIGEST_BYTES), dtype=np.uint8), KeptRoom()

    def look(rows: slice) -> None:
        numbers, found = vectors[rows], digests[rows]
        narrow = room("narrow", numbers.shape, "<f4")
        # What is no number is told later, by whoever releases it.
        with np.errstate(all="ignore"):
            np.add(numbers, np.float32(0), out=narrow, dtype="<f4", casting="unsafe")
        row_digests(narrow, found)
        if numbers.dtype != narrow.dtype:
            longer = (narrow != numbers).any(axis=1)
            wide = np.ascontiguousarray(numbers[longer], dtype="<f8") + 0.0
            own = np.empty((len(wide), DIGEST_BYTES), dtype=np.uint8)
            row_digests(wide, own)
            found[longer] = own

    in_blocks(len(vectors), BLOCK_ROWS, look)
    return Digests(digests)


def id_bytes(ids: Sequence[object], *, first_row: int = 0) -> list[bytes]:
    """Return the ids as bytes; 7 and "7" are one id, since some formats know no numbers."""
    found = []
    for row, value in enumerate(ids, start=first_row):
        if isinstance(value, bool) or not isinstance(value, str | int | bytes | np.integer):
            raise InvalidRowError(row, f"has no id, but {type(value).__name__}; an id is text or a whole number")
        if isinstance(value, bytes):
            found.append(b"b" + value)
        else:
            text = value if isinstance(value, str) else str(int(value))
            found.append(b"s" + text.encode("utf-8", "surrogatepass"))
    return found


@dataclass(frozen=True, eq=False)
class RecordBatch:
    """Some records, in order.

    Attributes:
        known_by: What tells them from others: ids, or contents where there are no ids.
        names: What keyed noise depends on: id and content. Noise that depended on an id alone would be the same after
            the text has changed, and the difference of the two releases would be that of the clean vectors. None where
            it is not known yet.
        kind: What stands before all of `known_by`, so that nobody takes a content for an id.
    """

    known_by: Sequence[bytes]
    names: Sequence[bytes] | None
    kind: bytes = b""

    @classmethod
    def of(
        cls, contents: Sequence[bytes], ids: Sequence[bytes] | None, *, seen: Sequence[bytes] | None = None
    ) -> RecordBatch:
        """Return the records with these contents, and with these ids where they have some.

        Args:
            contents: Digests of texts or of vectors.
            ids: The ids, as bytes.
            seen: Digests of what noise depends on in place of contents, as `seen_contents` returns them.
        """
        if ids is not None and len(ids) != len(contents):
            raise InvalidInputError(f"there must be one id per record, got {len(ids)} ids for {len(contents)} records")
        known = contents if seen is None else seen
        if ids is None:
            return cls(contents, known, kind=CONTENT)
        return cls(ids, [hashlib.sha256(content + name).digest() for content, name in zip(known, ids, strict=True)])

    @classmethod
    def joined(cls, batches: Sequence[RecordBatch]) -> RecordBatch:
        """Return the records of several batches, whose names are all known, as one."""
        return cls(
            [identity for batch in batches for identity in batch.identities],
            [name for batch in batches for name in batch.names or ()],
        )

    @property
    def identities(self) -> Sequence[bytes]:
        """What a ledger knows the records by."""
        return [self.kind + one for one in self.known_by] if self.kind else self.known_by

    def __len__(self) -> int:
        return len(self.known_by)


def vectors_are_pinned(embedder: Embedder | None) -> bool:
    """Return whether a text is sure to have the vector again that it has now, but for its last bits.

    A model whose weights are under a digest or a commit says so. Vectors that are looked up in a file, or come from a
    service, may be others the next time under the same name, and then the noise must be another too.
    """
    return bool(getattr(embedder, "pinned", False))


def seen_contents(embedder: Embedder, texts: Sequence[str], vectors: Embeddings) -> Sequence[bytes]:
    """Return what keyed noise of texts depends on: what a pinned model sees of them, or their vectors as they came.

    Not the texts themselves: of two that differ in what the model doesn't see, as in upper case, in blanks or beyond
    its length, the vectors are the same, and with noise of their own the mean of two releases would tell more than one.
    """
    return inputs_of(embedder, texts) if vectors_are_pinned(embedder) else vector_contents(vectors)
