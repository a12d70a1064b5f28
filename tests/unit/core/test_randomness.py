from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy._core import _multiarray_umath
from scipy import stats

from vecveil.core.arrays import Matrix
from vecveil.core.randomness import CipherRows, FreshRows, KeyedRows, RandomRows, SeededRows, Words, draw_gammas
from vecveil.testing.selftest.streams import first_words, worker_words

KEY = bytes(range(32))
STARTS = np.frombuffer(b"".join(bytes([number]) * 16 for number in range(40)), dtype="<u8").reshape(-1, 2)

RANDOM_STARTS = np.random.default_rng(0).integers(2**63, size=(2000, 2)).astype("<u8")

NIST_KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
"""Of the examples of AES-256 in NIST SP 800-38A."""


def as_starts(*counters: bytes) -> Words:
    """Return starts that are written as counters of 16 bytes."""
    return np.frombuffer(b"".join(counters), dtype=">u8").astype(np.uint64).reshape(-1, 2)


def in_bytes(words: Words) -> bytes:
    return words.astype("<u8").tobytes()


def encrypt(key: bytes, counter: int) -> bytes:
    """Return one block by the library's plain AES, which knows nothing of counters."""
    cipher = Cipher(algorithms.AES256(key), modes.ECB())  # noqa: S305
    return cipher.encryptor().update((counter % 2**128).to_bytes(16))


def test_words_are_the_example_of_fips_197() -> None:
    """AES-256, appendix C.3."""
    words = KeyedRows(KEY, as_starts(bytes.fromhex("00112233445566778899aabbccddeeff"))).words(2)
    assert in_bytes(words).hex() == "8ea2b7ca516745bfeafc49904b496089"


@pytest.mark.parametrize(
    ("counter", "stream"),
    [
        # F.5.5: the output blocks of AES-256 in counter mode.
        ("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "0bdf7df1591716335e9a8b15c860c502"),
        ("f0f1f2f3f4f5f6f7f8f9fafbfcfdff00", "5a6e699d536119065433863c8f657b94"),
    ],
)
def test_words_are_the_counter_mode_of_nist(counter: str, stream: str) -> None:
    assert in_bytes(KeyedRows(NIST_KEY, as_starts(bytes.fromhex(counter))).words(2)).hex() == stream


def test_words_from_a_key_are_the_encryptions_of_the_counters_behind_a_start() -> None:
    counters = [bytes(16), KEY[:16], b"\xab" * 16]
    rows = KeyedRows(KEY, as_starts(*counters))
    words = np.hstack([rows.words(4), rows.words(6)])
    for row, counter in zip(words, counters, strict=True):
        assert in_bytes(row) == b"".join(encrypt(KEY, int.from_bytes(counter) + block) for block in range(5))


def test_fresh_words_are_the_encryptions_of_the_counters_from_zero_on() -> None:
    rows = FreshRows(3, key=KEY)
    stream = in_bytes(rows.words(4)) + in_bytes(rows.words(2))
    assert stream == b"".join(encrypt(KEY, counter) for counter in range(9))


def test_streams_of_a_key_are_pinned() -> None:
    """Another number here would give every record of every user other noise: a second release of all of them."""
    words, uniforms = KeyedRows(KEY, STARTS[1:3]).words(3), KeyedRows(KEY, STARTS[1:3]).uniforms(3)
    assert [[hex(word) for word in row] for row in words.tolist()] == [
        ["0xbb1221172908e275", "0x3d43122b3d4da0f2", "0x9f4941a3efc47886"],
        ["0x88f3224670041667", "0x11e7dc611dc9f75a", "0x537834d29262eda0"],
    ]
    assert [[number.hex() for number in row] for row in uniforms.tolist()] == [
        ["0x1.7624422e5211ep-1", "0x1.ea189159ea6d8p-3", "0x1.3e928347df88ep-1"],
        ["0x1.11e6448ce0082p-1", "0x1.1e7dc611dc9f0p-4", "0x1.4de0d34a498bcp-2"],
    ]
    normals = [
        [-0.3051344891765771, -0.7843732083546143, -0.6157312407811775, 0.7309400362394002, -1.4982637260609564],
        [-1.11181013180208, 2.1831103948252695, -0.27908146924945754, 0.12249530544709453, -0.7444091443720412],
    ]
    # NumPy's logarithm and tangent may end in other last bits on other processors.
    np.testing.assert_allclose(KeyedRows(KEY, STARTS[1:3]).normals(5), normals, rtol=0, atol=1e-14)


PINNED = {
    "words": "02b8eca04a70125f6587b8b6fea8deb195c275f62359675b424a150f62c9990a",
    "normals": "ab1b33407774c890a12059ef88d8a4608a228e546e686bb712f47289430fb165",
    "gammas": "5eeb079c94300efe483fa094688c66bb0666592da78c341d7f28a72e67361cda",
}
"""Digests of 40 rows of 769 numbers, and of a Gamma number of each row."""

PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_randomness import digests
print(json.dumps(digests()))
"""


def digests() -> dict[str, str]:
    """Return the digests of many numbers of a key: of words to the last bit, of others to 2^-30."""
    numbers = {
        "words": KeyedRows(KEY, STARTS).words(769),
        "normals": np.rint(2.0**30 * KeyedRows(KEY, STARTS).normals(769)).astype("<i8"),
        "gammas": np.rint(2.0**30 * draw_gammas(KeyedRows(KEY, STARTS), 192.5)).astype("<i8"),
    }
    return {name: hashlib.sha256(values.tobytes()).hexdigest() for name, values in numbers.items()}


def test_many_numbers_of_a_key_are_pinned() -> None:
    assert digests() == PINNED


def test_numbers_of_a_key_are_the_same_to_nine_digits_on_a_processor_that_can_do_less() -> None:
    """NumPy has other code for other processors; without all that is special, it takes the plainest."""
    special = [name for name in _multiarray_umath.__cpu_dispatch__ if _multiarray_umath.__cpu_features__[name]]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(Path(__file__).parent)],
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(special)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == PINNED


def test_fresh_rows_are_others_each_time() -> None:
    assert len({FreshRows(1).words(2).tobytes() for _ in range(200)}) == 200


def test_no_two_blocks_of_fresh_rows_are_alike() -> None:
    rows = FreshRows(50)
    assert len(rows) == 50
    blocks = np.concatenate([rows.words(100), rows.words(100), rows.select(np.arange(50)).words(100)]).reshape(-1, 2)
    assert len(np.unique(blocks, axis=0)) == len(blocks)


def test_fresh_rows_under_a_known_key_come_again() -> None:
    np.testing.assert_array_equal(FreshRows(3, key=KEY).words(4), FreshRows(3, key=KEY).words(4))


def test_a_row_of_a_key_depends_on_its_start_alone() -> None:
    whole = KeyedRows(KEY, STARTS).normals(9)
    np.testing.assert_array_equal(KeyedRows(KEY, STARTS[::-1]).normals(9)[::-1], whole)
    np.testing.assert_array_equal(KeyedRows(KEY, STARTS[7:8]).normals(9), whole[7:8])
    assert len({row.tobytes() for row in whole}) == len(STARTS)


def test_numbers_of_a_key_follow_each_other_whatever_they_are_asked_for_in() -> None:
    rows = KeyedRows(KEY, STARTS)
    parts = [rows.words(4), rows.words(2), rows.words(8)]
    np.testing.assert_array_equal(np.hstack(parts), KeyedRows(KEY, STARTS).words(14))


@pytest.mark.parametrize("count", [1, 3, 5])
def test_no_block_of_a_key_is_used_for_two_calls(count: int) -> None:
    """What is left of a block whose first half was used is dropped."""
    rows = KeyedRows(KEY, STARTS)
    first, second = rows.words(count), rows.words(count)
    assert first.shape == second.shape == (40, count)
    whole = KeyedRows(KEY, STARTS).words(2 * (count + 1))
    np.testing.assert_array_equal(second, whole[:, count + 1 : 2 * count + 1])


@pytest.mark.parametrize("left", [0, 1, 3, 5])
def test_a_counter_that_runs_over_does_not_bring_a_block_twice(left: int) -> None:
    last = as_starts(b"\x07" * 8 + (2**64 - 1 - left).to_bytes(8), b"\xff" * 8 + (2**64 - 1 - left).to_bytes(8))
    rows = KeyedRows(KEY, last)
    blocks = np.hstack([rows.words(4), rows.words(4), rows.words(4)]).reshape(-1, 2)
    assert len(np.unique(blocks, axis=0)) == len(blocks)


def test_selected_rows_of_a_key_go_on_where_they_are() -> None:
    rows, whole = KeyedRows(KEY, STARTS), KeyedRows(KEY, STARTS).words(20)
    rows.words(6)
    some = rows.select(np.array([3, 7]))
    assert len(some) == 2
    np.testing.assert_array_equal(some.words(4), whole[[3, 7], 6:10])
    np.testing.assert_array_equal(some.select(np.array([1])).words(2), whole[[7], 10:12])
    # What they used is used up, for these rows alone.
    after = rows.words(2)
    np.testing.assert_array_equal(after[3], whole[3, 10:12])
    np.testing.assert_array_equal(after[7], whole[7, 12:14])
    np.testing.assert_array_equal(after[8], whole[8, 6:8])


def test_another_key_gives_other_words() -> None:
    assert (KeyedRows(KEY[::-1], STARTS).words(6) != KeyedRows(KEY, STARTS).words(6)).all()


class GivenWords(CipherRows):
    """Rows whose words are handed in."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

    def words(self, count: int) -> Words:
        assert count == self._words.shape[1]
        return self._words


WORDS = np.random.default_rng(0).integers(0, 2**64, (6, 200), dtype=np.uint64)
EDGES = np.array([0, 1 << 12, 1 << 63, (1 << 63) - (1 << 12), 2**64 - 1], dtype=np.uint64)
PAIRS_OF_EDGES = np.array([[one, other] for one in EDGES for other in EDGES], dtype=np.uint64)


def exact_normals(words: Words) -> Matrix:
    """Return what the method of Box and Muller gives for each row, with sixty digits."""
    half = words.shape[1] // 2
    found = np.empty(words.shape)
    with mpmath.workdps(60):
        for row, column in np.ndindex(len(words), half):
            first, second = (
                mpmath.mpf(2 * (int(words[row, place]) >> 13) + 1) / 2**52 for place in (column, half + column)
            )
            radius, turns = mpmath.sqrt(-2 * mpmath.log(first)), 2 * second - 1
            found[row, column] = radius * mpmath.cospi(turns)
            found[row, half + column] = radius * mpmath.sinpi(turns)
    return found


@pytest.mark.parametrize("words", [WORDS, PAIRS_OF_EDGES], ids=["any words", "outermost words"])
def test_normals_are_right_to_the_last_places(words: Words) -> None:
    normals = GivenWords(words).normals(words.shape[1])
    np.testing.assert_allclose(normals, exact_normals(words), rtol=0, atol=2e-14)


def test_the_outermost_words_make_finite_normals() -> None:
    normals = GivenWords(PAIRS_OF_EDGES).normals(2)
    assert np.isfinite(normals).all()
    assert np.abs(normals).max() == pytest.approx(np.sqrt(2 * 52 * np.log(2)), rel=1e-12)


def test_uniform_numbers_are_odd_multiples_of_a_small_step_and_never_0_or_1() -> None:
    words = np.concatenate([EDGES, WORDS.ravel()])[np.newaxis]
    before = words.copy()
    numbers = GivenWords(words).uniforms(words.size)[0]
    assert [int(number * 2**52) for number in numbers] == [2 * (int(word) >> 13) + 1 for word in words[0]]
    assert (numbers.min(), numbers.max()) == (2.0**-52, 1 - 2.0**-52)
    np.testing.assert_array_equal(words, before)


@pytest.mark.parametrize("count", [1, 2, 6, 7, 769, 20_000])
def test_an_odd_number_of_normals_is_drawn_too_and_rows_longer_than_a_block(count: int) -> None:
    normals = KeyedRows(KEY, STARTS[:3]).normals(count)
    assert normals.shape == (3, count)
    assert np.isfinite(normals).all()
    np.testing.assert_array_equal(normals, KeyedRows(KEY, STARTS[:3]).normals(count + count % 2)[:, :count])


@pytest.mark.parametrize("rows", [FreshRows(2000), KeyedRows(KEY, RANDOM_STARTS)], ids=["fresh", "keyed"])
def test_normals_are_standard_and_independent(rows: RandomRows) -> None:
    values = rows.normals(100)
    # Six standard errors: a right generator fails one of these once in 50 million runs.
    assert abs(values.mean()) < 6 / np.sqrt(values.size)
    assert abs(values.var() - 1) < 6 * np.sqrt(2 / values.size)
    assert abs((values**4).mean() - 3) < 6 * np.sqrt(96 / values.size)
    correlations = np.corrcoef(values, rowvar=False) - np.eye(values.shape[1])
    assert np.abs(correlations).max() < 7 / np.sqrt(len(values))


def test_normals_of_a_pair_lie_on_every_side() -> None:
    values = FreshRows(40_000).normals(2)
    angles = np.histogram(np.arctan2(values[:, 1], values[:, 0]), bins=8, range=(-np.pi, np.pi))[0]
    assert np.abs(angles - 5000).max() < 6 * np.sqrt(5000)


@pytest.mark.parametrize("shape", [1.0, 1.5, 2.0, 6.0, 192.5, 4096.0])
@pytest.mark.parametrize("make", [FreshRows, lambda rows: SeededRows(np.random.default_rng(0), rows)])
def test_gammas_have_their_law(make: Callable[[int], RandomRows], shape: float) -> None:
    assert stats.kstest(draw_gammas(make(20_000), shape), stats.gamma(shape).cdf).pvalue > 1e-7


def test_gammas_of_one_source_differ_each_time() -> None:
    rows = FreshRows(20_000)
    drawn = [draw_gammas(rows, 2.0) for _ in range(3)]
    assert np.abs(np.corrcoef(drawn) - np.eye(3)).max() < 6 / np.sqrt(20_000)


def test_a_row_of_a_key_gets_the_same_gamma_number_whatever_others_had_to_try_again() -> None:
    starts = RANDOM_STARTS[:200]
    whole = draw_gammas(KeyedRows(KEY, starts), 1.5)
    alone = [draw_gammas(KeyedRows(KEY, starts[row : row + 1]), 1.5)[0] for row in range(200)]
    np.testing.assert_array_equal(whole, alone)


def test_seeded_rows_are_the_numbers_of_their_generator() -> None:
    rows, rng = SeededRows(np.random.default_rng(3), 4), np.random.default_rng(3)
    np.testing.assert_array_equal(rows.normals(5), rng.standard_normal((4, 5)))
    np.testing.assert_array_equal(rows.uniforms(2), rng.random((4, 2)))
    some = rows.select(np.array([0, 2]))
    assert len(some) == 2
    np.testing.assert_array_equal(some.normals(3), rng.standard_normal((2, 3)))


def test_a_seeded_number_is_never_zero() -> None:
    class Zeros:
        def random(self, shape: tuple[int, int]) -> Matrix:
            return np.zeros(shape)

    zeros: Any = Zeros()
    assert (SeededRows(zeros, 3).uniforms(2) == 2.0**-54).all()


@pytest.mark.parametrize("rows", [FreshRows(0), KeyedRows(KEY, STARTS[:0]), SeededRows(np.random.default_rng(0), 0)])
def test_no_rows_have_no_numbers(rows: RandomRows) -> None:
    assert len(rows) == 0
    assert rows.normals(3).shape == (0, 3)
    assert rows.uniforms(3).shape == (0, 3)
    assert draw_gammas(rows, 2.0).shape == (0,)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_draw_different_noise(method: Any) -> None:
    drawn = [*worker_words(FreshRows, method), *worker_words(FreshRows, method), first_words(FreshRows)]
    assert len(set(drawn)) == 5
