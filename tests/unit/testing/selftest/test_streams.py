from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from vecveil.core.errors import VecveilError
from vecveil.core.randomness import FreshRows, KeyedRows, RandomRows, Words
from vecveil.testing.selftest import streams
from vecveil.testing.selftest.canaries.canary import (
    NoCipher,
    OverlappingRows,
    SameHalves,
    ShortKey,
    StuckRows,
    held_key,
)
from vecveil.testing.selftest.streams import (
    WORKERS,
    Method,
    RowSource,
    release_findings,
    stream_findings,
    worker_words,
)
from vecveil.veil.noise import FreshNoise, KeyedNoise

KEY = bytes(range(32))


def failures(source: RowSource) -> set[str]:
    return {finding.check for finding in stream_findings(source, methods=("fork",)) if finding.pvalue == 0}


def test_secure_streams_are_aes_and_never_the_same_twice() -> None:
    found = list(stream_findings())
    assert [finding.pvalue for finding in found] == [1.0] * len(found)
    assert {"AES-256 key stream", "no two workers alike (fork)", "no two workers alike (spawn)"} <= {
        finding.check for finding in found
    }


def test_a_key_that_workers_inherit_is_caught_though_the_cipher_is_right() -> None:
    assert failures(held_key) == {"no two keys alike", "no two workers alike (fork)"}


def test_a_shorter_key_and_no_cipher_are_caught_by_the_key_stream_alone() -> None:
    assert failures(ShortKey) == {"AES-256 key stream"}
    assert failures(NoCipher) == {"AES-256 key stream"}


def test_rows_that_share_a_stream_are_caught() -> None:
    assert failures(StuckRows) == {"no two blocks alike"}
    assert failures(OverlappingRows) == {"no two blocks alike"}
    assert failures(SameHalves) == {"AES-256 key stream", "no two blocks alike"}


class ElsewhereRows(KeyedRows):
    """Rows of a key that begin a block too late."""

    def __init__(self, key: bytes, starts: Words) -> None:
        super().__init__(key, starts + np.array([0, 1], dtype=np.uint64))


def test_keyed_streams_that_begin_elsewhere_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "KeyedRows", ElsewhereRows)
    assert failures(FreshRows) == {"AES-256 key stream"}


def fail(rows: int) -> FreshRows:
    raise SystemExit(rows)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_each_worker_answers(method: Method) -> None:
    words = worker_words(FreshRows, method)
    assert len(set(words)) == WORKERS
    assert {len(word) for word in words} == {32}


def test_a_worker_that_ends_without_an_answer_is_named() -> None:
    with pytest.raises(VecveilError, match="a worker started by fork ended without an answer"):
        worker_words(fail, "fork")


def release_failures() -> set[str]:
    return {finding.check for finding in release_findings() if finding.pvalue == 0}


def test_releases_share_nothing() -> None:
    assert release_failures() == set()


def test_noise_that_each_chunk_repeats_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def repeat(_: FreshNoise, names: Sequence[bytes]) -> RandomRows:
        return FreshRows(len(names), key=KEY)

    monkeypatch.setattr(FreshNoise, "rows", repeat)
    assert release_failures() == {"no two rows alike, fresh noise", "no two releases alike"}


def test_keyed_noise_that_counts_rows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(_: KeyedNoise, names: Sequence[bytes]) -> RandomRows:
        starts = np.zeros((len(names), 2), dtype="<u8")
        starts[:, 0] = np.arange(len(names))
        return KeyedRows(KEY, starts)

    monkeypatch.setattr(KeyedNoise, "rows", count)
    assert release_failures() == {
        "no two rows alike, noise from a key",
        "the same in parts",
        "nothing in common with another key",
    }
