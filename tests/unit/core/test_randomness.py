from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import fresh_streams, keyed_starts, keyed_streams, standard_normals

KEY = bytes(range(32))
STARTS = [bytes([number]) * 16 for number in range(40)]


def test_fresh_streams_are_others_each_time() -> None:
    draws = {fresh_streams(1).words(0, 1).tobytes() for _ in range(200)}
    assert len(draws) == 200


def test_a_row_depends_on_its_start_alone() -> None:
    whole = keyed_streams(KEY, STARTS).words(2, 5)
    np.testing.assert_array_equal(keyed_streams(KEY, STARTS[::-1]).words(2, 5)[::-1], whole)
    np.testing.assert_array_equal(keyed_streams(KEY, STARTS[7:8]).words(2, 5), whole[7:8])
    np.testing.assert_array_equal(keyed_streams(KEY, STARTS).words(2, 5, np.array([3, 7])), whole[[3, 7]])
    assert len({row.tobytes() for row in whole}) == len(STARTS)


def test_blocks_follow_each_other_whatever_they_are_asked_for_in() -> None:
    streams = keyed_streams(KEY, STARTS)
    parts = [streams.words(0, 2), streams.words(2, 1), streams.words(3, 4)]
    np.testing.assert_array_equal(np.hstack(parts), streams.words(0, 7))


def test_another_key_gives_other_words() -> None:
    assert (keyed_streams(KEY[::-1], STARTS).words(0, 3) != keyed_streams(KEY, STARTS).words(0, 3)).all()


def test_rows_may_begin_at_different_blocks() -> None:
    streams = keyed_streams(KEY, STARTS)
    later = streams.words(np.array([1, 5], dtype="<u8"), 2, np.array([3, 7]))
    np.testing.assert_array_equal(later, np.stack([streams.words(1, 2)[3], streams.words(5, 2)[7]]))


def test_starts_of_digests_are_a_cbc_mac() -> None:
    """Held against the library's own CBC mode, one message at a time."""
    digests = [bytes([number]) * 32 for number in range(5)]
    for digest, start in zip(digests, keyed_starts(KEY, digests), strict=True):
        encryptor = Cipher(algorithms.AES256(KEY), modes.CBC(bytes(16))).encryptor()
        assert (encryptor.update(digest) + encryptor.finalize())[-16:] == start.tobytes()
    assert keyed_starts(KEY, []).shape == (0, 2)


@pytest.mark.parametrize("names", [[b""], [b"x" * 31, b"x" * 33], [b"x" * 32, b"x"]])
def test_streams_are_named_by_digests_of_one_length(names: list[bytes]) -> None:
    """Messages of different lengths can have the same start, or starts that go together."""
    with pytest.raises(InvalidInputError, match="digests of 32 bytes"):
        keyed_starts(KEY, names)


def test_the_outermost_words_make_finite_normals() -> None:
    edges = [0, 1 << 12, 1 << 63, (1 << 63) - (1 << 12), 2**64 - 1]
    pairs = np.array([[one, other] for one in edges for other in edges], dtype="<u8")
    normals = np.hstack([standard_normals(pairs, width)[0] for width in (1, 2)])
    assert np.isfinite(normals).all()
    assert np.abs(normals).max() == pytest.approx(np.sqrt(2 * 52 * np.log(2)), rel=1e-12)


@pytest.mark.parametrize(("width", "left"), [(100, 50), (91, 46), (1, 1), (0, 0)])
def test_normals_are_standard_and_independent(width: int, left: int) -> None:
    normals, spare = standard_normals(fresh_streams(2000).words(0, 50), width)
    assert normals.shape == (2000, width)
    assert spare.shape == (2000, 50 - left)
    values = np.hstack([normals, spare])
    # Six standard errors: a right generator fails one of these once in 50 million runs.
    assert abs(values.mean()) < 6 / np.sqrt(values.size)
    assert abs(values.var() - 1) < 6 * np.sqrt(2 / values.size)
    assert abs((values**4).mean() - 3) < 6 * np.sqrt(96 / values.size)
    correlations = np.corrcoef(values, rowvar=False) - np.eye(values.shape[1])
    assert np.abs(correlations).max() < 7 / np.sqrt(len(values))


def test_normals_of_a_pair_lie_on_every_side() -> None:
    values = standard_normals(fresh_streams(40_000).words(0, 2), 4)[0][:, ::2]
    angles = np.histogram(np.arctan2(values[:, 1], values[:, 0]), bins=8, range=(-np.pi, np.pi))[0]
    assert np.abs(angles - 5000).max() < 6 * np.sqrt(5000)


def _send_draw(pipe: Connection) -> None:
    pipe.send(fresh_streams(1).words(0, 1).tobytes())


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_draw_different_noise(method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    draws = []
    for _ in range(4):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_send_draw, args=(sender,))
        worker.start()
        draws.append(receiver.recv())
        worker.join()
    assert len(set(draws)) == 4
