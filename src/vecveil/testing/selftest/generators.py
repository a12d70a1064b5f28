"""Whether the generator is the cipher that it is said to be, and never the same one twice."""

from __future__ import annotations

import multiprocessing
import secrets
from collections.abc import Iterator, Sequence

import numpy as np

from vecveil.core.key import KEY_BYTES
from vecveil.core.randomness import keyed_generators, secure_generator
from vecveil.testing.selftest.chacha import keystream
from vecveil.testing.selftest.finding import Finding
from vecveil.testing.selftest.workers import Method, Source, first_words, worker_words

BLOCKS = 16
"""Of 64 bytes that are compared with the cipher's."""

GENERATORS = 200

METHODS: tuple[Method, ...] = ("fork", "spawn")
"""How workers are started. Where a system has no fork, there is nothing to inherit."""


def generator_findings(
    source: Source = secure_generator, *, subject: str = "secure generator", methods: Sequence[Method] = METHODS
) -> Iterator[Finding]:
    """Yield the findings about the generators that `source` returns. None has a chance worth the name in it."""
    yield _finding(subject, "ChaCha20 key stream", _is_chacha20(source()))
    words = [first_words(source) for _ in range(GENERATORS)]
    yield _finding(subject, "no two generators alike", len(set(words)) == len(words))
    for method in methods:
        if method in multiprocessing.get_all_start_methods():
            drawn = [*worker_words(source, method), first_words(source)]
            yield _finding(subject, f"no two workers alike ({method})", len(set(drawn)) == len(drawn))


def keyed_findings() -> Iterator[Finding]:
    """Yield what is found about generators that are set to one key after another."""
    keys = [secrets.token_bytes(KEY_BYTES) for _ in range(3)]
    # Each is drawn from before the next is asked for, and not by whole blocks, as noise is.
    right = [
        generator.bit_generator.random_raw(8 * BLOCKS - 3).tobytes() == keystream(key, blocks=BLOCKS)[:-24]
        for key, generator in zip(keys, keyed_generators(keys), strict=True)
    ]
    yield _finding("keyed generators", "ChaCha20 key stream", all(right))


def _is_chacha20(generator: np.random.Generator) -> bool:
    state = generator.bit_generator.state["state"]
    if "keysetup" not in state:
        return False
    key = np.asarray(state["keysetup"], dtype="<u4").tobytes()
    raw = np.asarray(generator.bit_generator.random_raw(8 * BLOCKS), dtype="<u8").tobytes()
    return raw == keystream(key, blocks=BLOCKS)


def _finding(subject: str, check: str, right: bool) -> Finding:
    return Finding(subject=subject, check=check, pvalue=float(right))
