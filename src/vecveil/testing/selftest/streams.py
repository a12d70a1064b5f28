"""Whether noise comes from the cipher that it is said to come from, and never from the same key twice."""

from __future__ import annotations

import multiprocessing
import secrets
from collections.abc import Iterator, Sequence

import numpy as np

from vecveil.core.randomness import (
    CIPHER_KEY_BYTES,
    START_BYTES,
    WORDS_IN_BLOCK,
    RowStreams,
    fresh_streams,
    keyed_streams,
)
from vecveil.testing.selftest.aes import encrypted
from vecveil.testing.selftest.finding import Finding
from vecveil.testing.selftest.workers import Method, Streams, first_words, worker_words

BLOCKS = 8
"""Of each row that are compared with the cipher's."""

FIRST = 3
"""The first of them: noise is drawn in more than one go."""

MANY = 200

METHODS: tuple[Method, ...] = ("fork", "spawn")
"""How workers are started. Where a system has no fork, there is nothing to inherit."""

LAST_START = b"\xff" * START_BYTES
"""Counting on from here runs over."""


def stream_findings(
    source: Streams = fresh_streams, *, subject: str = "secure streams", methods: Sequence[Method] = METHODS
) -> Iterator[Finding]:
    """Yield the findings about the streams that `source` returns. None has a chance worth the name in it."""
    yield Finding.without_chance(subject, "AES-256 key stream", _is_aes(source(3)))
    blocks = source(MANY).words(0, MANY).reshape(-1, WORDS_IN_BLOCK)
    yield Finding.without_chance(subject, "no two blocks alike", len(np.unique(blocks, axis=0)) == len(blocks))
    words = [first_words(source) for _ in range(MANY)]
    yield Finding.without_chance(subject, "no two keys alike", len(set(words)) == len(words))
    for method in methods:
        if method in multiprocessing.get_all_start_methods():
            drawn = [*worker_words(source, method), first_words(source)]
            yield Finding.without_chance(subject, f"no two workers alike ({method})", len(set(drawn)) == len(drawn))


def keyed_findings() -> Iterator[Finding]:
    """Yield what is found about streams of a key that begin where they are told to."""
    starts = [secrets.token_bytes(START_BYTES), bytes(START_BYTES), LAST_START]
    streams = keyed_streams(secrets.token_bytes(CIPHER_KEY_BYTES), starts)
    yield Finding.without_chance("keyed streams", "AES-256 key stream", _is_aes(streams))


def _is_aes(streams: RowStreams) -> bool:
    wanted = range(FIRST, FIRST + BLOCKS)
    return all(
        row.tobytes() == b"".join(encrypted(streams.key, _numbered(start.tobytes(), block)) for block in wanted)
        for row, start in zip(streams.words(FIRST, BLOCKS), streams.starts, strict=True)
    )


def _numbered(start: bytes, block: int) -> bytes:
    """Return the number of a block: its lower half is counted on, and begins anew at the end."""
    lower = (int.from_bytes(start[:8], "little") + block) % 2**64
    return lower.to_bytes(8, "little") + start[8:]
