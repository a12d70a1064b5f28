from __future__ import annotations

import mpmath
import numpy as np
import pytest

from vecveil.core.room import KeptRoom, new_room
from vecveil.core.tangents import Tangents, _fastest, by_arithmetic, by_numpy, tangents_of_turns

TURNS = 1 + (2 * np.random.default_rng(0).integers(0, 2**51, (4, 500)) + 1) / 2**52
EDGES = np.array([[1 + 2.0**-52, 2 - 2.0**-52, 1.5 + 2.0**-52, 1.5 - 2.0**-52]])


def _exact(turns: np.ndarray) -> np.ndarray:
    with mpmath.workdps(60):
        return np.array([[float(mpmath.tan(mpmath.pi * mpmath.mpf(float(turn)))) for turn in row] for row in turns])


@pytest.mark.parametrize("way", [by_arithmetic, by_numpy])
def test_directions_of_tangents_of_half_angles_are_right(way: Tangents) -> None:
    """What is made of them is a cosine and a sine: those must be right to the last places, near the pole too."""
    for turns in (TURNS, EDGES):
        found, exact = way(turns.copy(), new_room), _exact(turns)
        np.testing.assert_allclose(2 / (1 + found**2), 2 / (1 + exact**2), rtol=0, atol=4e-15)
        np.testing.assert_allclose(2 * found / (1 + found**2), 2 * exact / (1 + exact**2), rtol=0, atol=4e-15)


def test_arithmetic_is_right_to_the_last_places() -> None:
    away = TURNS[np.abs(TURNS % 0.5 - 0.25) < 0.2][np.newaxis]
    np.testing.assert_allclose(by_arithmetic(away.copy(), new_room), _exact(away), rtol=2e-15)


def test_one_of_the_ways_is_taken_and_memory_may_be_used_again() -> None:
    room, found = KeptRoom(), []
    for _ in range(2):
        turns = TURNS.copy()
        assert tangents_of_turns(turns, room=room) is turns
        found.append(turns)
    np.testing.assert_array_equal(*found)
    assert any(np.array_equal(found[0], way(TURNS.copy(), new_room)) for way in (by_arithmetic, by_numpy))
    single = tangents_of_turns(TURNS[:1, :3].copy())
    np.testing.assert_array_equal(single, found[0][:1, :3])


def test_arithmetic_is_taken_where_numpy_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, wanted in (
        ({}, by_arithmetic),
        ({"tan": {"dd": {"current": "baseline(X86_V2)"}}}, by_arithmetic),
        ({"tan": {"dd": {"current": "X86_V4"}}}, by_numpy),
    ):
        monkeypatch.setattr("numpy.lib.introspect.opt_func_info", lambda said=said, **_: said)
        assert _fastest.__wrapped__() is wanted
