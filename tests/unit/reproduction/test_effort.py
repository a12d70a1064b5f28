from __future__ import annotations

from dataclasses import replace

import pytest

from reproduction import FULL, QUICK
from vecveil.core.errors import InvalidInputError


def test_more_seeds_take_those_before_along() -> None:
    assert QUICK.with_seeds(3).seeds == (0, 1, 2)
    assert replace(QUICK.with_seeds(3), seeds=(0,)) == QUICK
    assert FULL.with_seeds(5) == FULL


def test_at_least_one_seed_is_needed() -> None:
    with pytest.raises(InvalidInputError, match="--seeds must be a whole number of at least 1, got 0"):
        QUICK.with_seeds(0)
    with pytest.raises(InvalidInputError, match="a seed at least"):
        replace(QUICK, seeds=())
