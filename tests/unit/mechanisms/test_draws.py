from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import EVERY, Rows, RowStreams, Words, counted_starts, fresh_streams, keyed_streams
from vecveil.core.room import Room, new_room
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.mechanisms.chance import Chance, GeneratorChance, StreamChance
from vecveil.mechanisms.draws import Draws, fresh_draws, generator_draws, stream_draws

KEY = bytes(range(32))
STARTS = [bytes([number]) * 16 for number in range(1, 40)]
RNG = np.random.default_rng(0)


def _streams(starts: list[bytes]) -> RowStreams:
    return keyed_streams(KEY, starts)


def _mechanism(name: str) -> Mechanism:
    return MECHANISMS.load(name).for_shape(epsilon=5.0, variances=np.ones(6), axes=None, centre=None)


@pytest.mark.parametrize("shape", [1.0, 2.0, 6.0, 384.0])
def test_gammas_of_streams_have_their_law(shape: float) -> None:
    drawn = StreamChance(fresh_streams(20_000), first=0).gammas(shape)
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 1e-7


def test_numbers_of_one_chance_differ_each_time() -> None:
    chance = StreamChance(fresh_streams(20_000), first=5)
    assert np.abs(np.corrcoef([chance.gammas(2.0) for _ in range(3)]) - np.eye(3)).max() < 6 / np.sqrt(20_000)


@pytest.mark.parametrize("shape", [1.0, 6.0])
@pytest.mark.parametrize("chance", [StreamChance(fresh_streams(20_000), first=0), GeneratorChance(RNG, 20_000)])
def test_a_cost_makes_numbers_less_likely(chance: Chance, shape: float) -> None:
    """The Gamma density times exp(-2x) is that of numbers a third as large."""
    drawn = chance.gammas(shape, lambda numbers: 2 * numbers)
    assert stats.kstest(drawn, stats.gamma(shape, scale=1 / 3).cdf).pvalue > 1e-7
    costless = chance.gammas(shape, np.zeros_like)
    assert stats.kstest(costless, stats.gamma(shape).cdf).pvalue > 1e-7


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_draws_of_streams_depend_on_the_stream_alone(name: str) -> None:
    mechanism = _mechanism(name)
    whole, turned = stream_draws(mechanism, _streams(STARTS)), stream_draws(mechanism, _streams(STARTS[::-1]))
    np.testing.assert_array_equal(whole.normals, turned.normals[::-1])
    np.testing.assert_array_equal(whole.amounts, turned.amounts[::-1])
    for row, start in enumerate(STARTS):
        single = stream_draws(mechanism, _streams([start]))
        np.testing.assert_array_equal(single.normals[0], whole.normals[row])
        assert single.amounts[0] == whole.amounts[row]
    assert len(np.unique(whole.amounts)) == len(np.unique(whole.normals[:, 0])) == len(STARTS)


def test_a_row_gets_the_same_whatever_others_had_to_try_again() -> None:
    """Were blocks counted for all rows together, the same normals would come with other amounts in another batch."""
    starts = [number.to_bytes(16, "little") for number in range(0, 200 * 2**64, 2**64)]

    def taken(streams: RowStreams) -> np.ndarray:
        chance = StreamChance(streams, first=4)
        return np.stack([chance.gammas(2.0), chance.gammas(3.0, np.sqrt), chance.gammas(1.0)], axis=1)

    whole = taken(_streams(starts))
    for row, start in enumerate(starts):
        np.testing.assert_array_equal(taken(_streams([start]))[0], whole[row])


class _Watched(RowStreams):
    """Streams that write down which blocks of which rows were asked for."""

    asked: list[tuple[int, int]]

    def words(self, first: int | Words, blocks: int, rows: Rows = EVERY, *, room: Room = new_room) -> Words:
        places = np.arange(len(self))[rows]
        firsts = np.broadcast_to(first, len(places))
        for row, begin in zip(places, firsts, strict=True):
            self.asked += [(int(row), int(begin) + block) for block in range(blocks)]
        return super().words(first, blocks, rows, room=room)


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_no_block_is_used_twice(name: str) -> None:
    """A row that tries again must not get the numbers that it was refused with, nor those of its normals."""
    streams = _Watched(KEY, counted_starts(3000))
    streams.asked = []
    stream_draws(_mechanism(name), streams)
    StreamChance(streams, first=1000).gammas(1.0)
    assert len(streams.asked) > 3000 * (4 + 4)
    assert len(set(streams.asked)) == len(streams.asked)


def test_an_odd_number_of_normals_is_drawn_too() -> None:
    mechanism = MECHANISMS.load("laplace").for_shape(epsilon=5.0, variances=np.ones(7), axes=None, centre=None)
    assert fresh_draws(mechanism, 3).normals.shape == (3, 7)


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_perturbing_is_releasing_with_the_draws_of_a_generator(name: str) -> None:
    mechanism = _mechanism(name)
    vectors = np.random.default_rng(0).standard_normal((9, 6))
    draws = generator_draws(mechanism, 9, np.random.default_rng(1))
    np.testing.assert_array_equal(
        mechanism.release(vectors, draws), mechanism.perturb(vectors, np.random.default_rng(1))
    )


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_a_row_does_not_depend_on_the_rows_beside_it(name: str) -> None:
    mechanism = _mechanism(name)
    vectors = np.random.default_rng(0).standard_normal((len(STARTS), 6))
    whole = mechanism.release(vectors, stream_draws(mechanism, _streams(STARTS)))
    for row, start in enumerate(STARTS):
        alone = mechanism.release(vectors[row : row + 1], stream_draws(mechanism, _streams([start])))
        np.testing.assert_allclose(alone[0], whole[row], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_a_release_is_made_in_double_precision(name: str) -> None:
    mechanism = _mechanism(name)
    vectors = np.ones((3, 6), dtype=np.float32)
    assert mechanism.release(vectors, fresh_draws(mechanism, 3)).dtype == np.float64


def test_nothing_is_drawn_for_no_rows() -> None:
    draws = stream_draws(_mechanism("laplace"), _streams([]))
    assert isinstance(draws, Draws)
    assert draws.normals.shape == (0, 6)


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
@pytest.mark.parametrize(
    "kind", [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64, int]
)
def test_a_budget_of_any_kind_of_number_gives_the_same_noise(name: str, kind: type) -> None:
    """A square of 120 does not fit into a byte: that once would have been other noise, or none."""
    shape = {"variances": np.ones(6), "axes": None, "centre": None}
    plain, other = (MECHANISMS.load(name).for_shape(epsilon=value, **shape) for value in (120.0, kind(120)))
    assert type(other.epsilon) is float
    vectors = np.random.default_rng(0).standard_normal((len(STARTS), 6))
    found = [mechanism.release(vectors, stream_draws(mechanism, _streams(STARTS))) for mechanism in (plain, other)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_draws_must_fit_the_vectors(name: str) -> None:
    """Compiled loops don't look where arrays end: rows would be released without noise."""
    mechanism = _mechanism(name)
    for vectors, rows in ((np.ones((20, 6)), 1), (np.ones((1, 6)), 20), (np.ones((3, 8)), 3), (np.ones((3, 5)), 3)):
        with pytest.raises(InvalidInputError, match=r"need 6 normals|must have 6 dimensions"):
            mechanism.release(vectors, fresh_draws(mechanism, rows))
    normals, amounts = fresh_draws(mechanism, 3)[:2]
    for wrong in (Draws(normals[:, :5], amounts), Draws(normals, amounts[:2]), Draws(normals[:2], amounts)):
        with pytest.raises(InvalidInputError, match="need 6 normals"):
            mechanism.release(np.ones((3, 6)), wrong)
