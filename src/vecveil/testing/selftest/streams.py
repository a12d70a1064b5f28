"""Findings about random numbers: their cipher, their keys, their releases."""

import multiprocessing
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vecveil.core.errors import VecveilError
from vecveil.core.key import Key
from vecveil.core.randomness import CipherRows, FreshRows, KeyedRows
from vecveil.embedders import Fingerprint
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.result import Finding
from vecveil.veil.budget import TypicalLengths
from vecveil.veil.provenance import Provenance
from vecveil.veil.release import CHUNK_NUMBERS, Release
from vecveil.veil.veil import Veil

RowSource: TypeAlias = Callable[[int], FreshRows]
"""Returns rows of random numbers: others each time, unless something is wrong."""

Method = Literal["fork", "spawn"]
METHODS: tuple[Method, ...] = ("fork", "spawn")
"""How workers are started. Where a system has no fork, there is nothing to inherit."""

KNOWN_KEY = bytes(range(32))
KNOWN_BLOCK = bytes(0x11 * number for number in range(16))
KNOWN_ANSWER = bytes.fromhex("8ea2b7ca516745bfeafc49904b496089")
"""The example of AES-256 in FIPS 197, appendix C.3."""

MANY = 200
WORDS = 16
"""Of each row that are compared with the cipher's."""

WORKERS = 2
PATIENCE = 120
"""Seconds that a worker may take to start and to draw."""

DIMENSIONS = 384
ROWS = 2 * (CHUNK_NUMBERS // DIMENSIONS) + 7
"""Releases of one vector: more than two chunks of them."""


def stream_findings(
    source: RowSource = FreshRows, *, subject: str = "secure streams", methods: Sequence[Method] = METHODS
) -> Iterator[Finding]:
    """Yield the findings about the rows that `source` returns. None depends on chance in any way that matters."""
    yield Finding.without_chance(subject, "AES-256 key stream", _is_aes(type(source(1))))
    blocks = source(MANY).words(2 * MANY).reshape(-1, 2)
    yield Finding.without_chance(subject, "no two blocks alike", len(np.unique(blocks, axis=0)) == len(blocks))
    words = [first_words(source) for _ in range(MANY)]
    yield Finding.without_chance(subject, "no two keys alike", len(set(words)) == len(words))
    for method in methods:
        if method in multiprocessing.get_all_start_methods():
            drawn = [*worker_words(source, method), first_words(source)]
            yield Finding.without_chance(subject, f"no two workers alike ({method})", len(set(drawn)) == len(drawn))


def release_findings() -> Iterator[Finding]:
    """Yield the findings about many releases of one vector, made as a user makes them."""
    veil = _make_veil()
    names = [f"record {row}" for row in range(ROWS)]
    first, second = (_release(veil.release(ledger="none"), None) for _ in range(2))
    yield Finding.without_chance("releases", "no two rows alike, fresh noise", _all_differ(first))
    yield Finding.without_chance("releases", "no two releases alike", _all_differ(np.concatenate([first, second])))
    keyed = veil.release(key=Key.new(), ledger="none")
    once, again = (_release(keyed, names) for _ in range(2))
    yield Finding.without_chance("releases", "no two rows alike, noise from a key", _all_differ(once))
    yield Finding.without_chance("releases", "the same again with a key", np.array_equal(once, again))
    parts = [_release(keyed, names[start : start + 100]) for start in range(0, ROWS, 100)]
    yield Finding.without_chance("releases", "the same in parts", np.array_equal(once, np.concatenate(parts)))
    other = _release(veil.release(key=Key.new(), ledger="none"), names)
    yield Finding.without_chance(
        "releases", "nothing in common with another key", _all_differ(np.concatenate([once, other]))
    )


def first_words(source: RowSource) -> bytes:
    """Return the first 256 bits of a row."""
    return source(1).words(4).tobytes()


def worker_words(source: RowSource, method: Method) -> list[bytes]:
    """Return the first bits that each of some worker processes gets."""
    context: Any = multiprocessing.get_context(method)
    found = []
    for _ in range(WORKERS):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_send_words, args=(sender, source), daemon=True)
        with warnings.catch_warnings():
            # A fork of a process with threads can hang if the child needs their locks. It needs none, and may be late.
            warnings.simplefilter("ignore", DeprecationWarning)
            worker.start()
        sender.close()
        try:
            if not receiver.poll(PATIENCE):
                raise VecveilError(f"a worker started by {method} did not answer within {PATIENCE} seconds")
            found.append(receiver.recv_bytes())
        except EOFError:
            raise VecveilError(f"a worker started by {method} ended without an answer") from None
        finally:
            worker.kill()
            worker.join()
    return found


def _send_words(pipe: Connection, source: RowSource) -> None:
    pipe.send_bytes(first_words(source))


def _is_aes(kind: type[FreshRows]) -> bool:
    """Return whether rows are the encryptions of successive counters, drawn in more than one go."""
    keyed = KeyedRows(KNOWN_KEY, np.frombuffer(KNOWN_BLOCK, dtype=">u8").astype(np.uint64).reshape(1, 2))
    if keyed.words(2).tobytes() != KNOWN_ANSWER:
        return False
    fresh = kind(1, key=KNOWN_KEY)
    streams = (keyed, int.from_bytes(KNOWN_BLOCK) + 1), (fresh, 0)
    return all(_follows(rows, counter) for rows, counter in streams)


def _follows(rows: CipherRows, counter: int) -> bool:
    words = np.concatenate([rows.words(WORDS // 2), rows.words(WORDS // 2)], axis=1)
    return words.tobytes() == b"".join(_encrypt(counter + block) for block in range(WORDS // 2))


def _encrypt(counter: int) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES256(KNOWN_KEY), modes.ECB()).encryptor().update(counter.to_bytes(16))


def _release(release: Release, ids: list[str] | None) -> NDArray[np.float32]:
    rows = ROWS if ids is None else len(ids)
    clean = np.full((rows, DIMENSIONS), 1 / np.sqrt(DIMENSIONS), dtype=np.float32)
    return release.protect_vectors(clean, ids=ids)


def _all_differ(rows: NDArray[np.float32]) -> bool:
    """Return whether no two rows are equal in their first or in their last numbers."""
    few = 8
    return all(len({part.tobytes() for part in rows[:, half]}) == len(rows) for half in (slice(few), slice(-few, None)))


def _make_veil() -> Veil:
    return Veil(
        shape=NoiseShape(variances=np.ones(DIMENSIONS)),
        mechanism="laplace",
        fingerprint=Fingerprint(model="selftest", revision="", dimensions=DIMENSIONS, normalized=True),
        typical=TypicalLengths(signal=1.0, pair=0.5, euclidean_pair=0.5, high_pair=0.5),
        provenance=Provenance(
            concept={}, contrast="none", pairs=0, embedder=None, learner={"name": "uniform"}, facts={}, seed=0
        ),
        epsilon=2.0 * DIMENSIONS,
    )
