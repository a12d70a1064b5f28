from __future__ import annotations

from collections.abc import Sequence

import pytest

from vecveil.core.randomness import RowStreams, counted_starts, keyed_streams
from vecveil.core.room import Room
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.draws import Draws, stream_draws
from vecveil.testing.selftest.released import released_findings
from vecveil.veil.noise import FreshNoise, KeyedNoise

KEY = bytes(range(32))


def failures() -> set[str]:
    return {finding.check for finding in released_findings() if finding.pvalue == 0}


def test_releases_share_nothing() -> None:
    assert failures() == set()


def test_noise_that_each_block_repeats_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def repeated(_: FreshNoise, mechanism: Mechanism, records: Sequence[bytes], *, room: Room) -> Draws:
        return stream_draws(mechanism, RowStreams(KEY, counted_starts(len(records))), room=room)

    monkeypatch.setattr(FreshNoise, "draws", repeated)
    assert failures() == {"no two rows alike, fresh noise", "no two releases alike"}


def test_keyed_noise_that_counts_rows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(self: KeyedNoise, mechanism: Mechanism, records: Sequence[bytes], *, room: Room) -> Draws:
        return stream_draws(mechanism, keyed_streams(KEY, [b"%16d" % row for row in range(len(records))]), room=room)

    monkeypatch.setattr(KeyedNoise, "draws", counted)
    assert failures() == {
        "no two rows alike, noise from a key",
        "the same in parts",
        "nothing in common with another key",
    }
