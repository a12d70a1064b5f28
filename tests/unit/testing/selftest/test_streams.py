from __future__ import annotations

from collections.abc import Callable

import pytest

from vecveil.core.randomness import RowStreams
from vecveil.testing.selftest.canaries.streams import (
    held_key,
    no_cipher,
    overlapping_rows,
    same_halves,
    short_key,
    stuck_rows,
)
from vecveil.testing.selftest.streams import keyed_findings, stream_findings


def failures(source: Callable[[int], RowStreams]) -> set[str]:
    return {finding.check for finding in stream_findings(source, methods=("fork",)) if finding.pvalue == 0}


def test_secure_streams_are_aes_and_never_the_same_twice() -> None:
    found = list(stream_findings())
    assert [finding.pvalue for finding in found] == [1.0] * len(found)
    assert {"AES-256 key stream", "no two workers alike (fork)", "no two workers alike (spawn)"} <= {
        finding.check for finding in found
    }


def test_keyed_streams_are_aes_too() -> None:
    assert [finding.pvalue for finding in keyed_findings()] == [1.0]


def test_keyed_streams_that_begin_elsewhere_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.testing.selftest.streams.keyed_streams", lambda _, starts: short_key(len(starts)))
    assert [finding.pvalue for finding in keyed_findings()] == [0.0]


def test_a_key_that_workers_inherit_is_caught_though_the_cipher_is_right() -> None:
    assert failures(held_key) == {"no two keys alike", "no two workers alike (fork)"}


def test_a_shorter_key_and_no_cipher_are_caught_by_the_key_stream_alone() -> None:
    assert failures(short_key) == {"AES-256 key stream"}
    assert failures(no_cipher) == {"AES-256 key stream"}


def test_rows_that_share_a_stream_are_caught() -> None:
    assert failures(stuck_rows) == {"no two blocks alike"}
    assert failures(overlapping_rows) == {"no two blocks alike"}
    assert failures(same_halves) == {"AES-256 key stream", "no two blocks alike"}
