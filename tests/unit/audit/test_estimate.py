from __future__ import annotations

import numpy as np
import pytest

from vecveil.audit.estimate import Estimate, ratio
from vecveil.core.arrays import Vector
from vecveil.core.errors import InvalidInputError


def _drawn(texts: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Return hits and tokens of texts that leak 30 % on average, some of them much and some of them little."""
    tokens = rng.integers(1, 5, size=texts)
    shares = rng.choice([0.1, 0.5], size=texts)
    return rng.binomial(tokens, shares).astype(float), tokens.astype(float)


def test_the_value_counts_words_and_not_texts() -> None:
    assert ratio(np.array([1.0, 0.0]), np.array([1.0, 3.0])).value == 0.25


def test_rows_without_a_whole_do_not_count() -> None:
    parts, wholes = np.array([1.0, 0.0, 1.0, 1.0]), np.array([2.0, 1.0, 1.0, 3.0])
    padded = ratio(np.append(parts, [0.0, 0.0]), np.append(wholes, [0.0, 0.0]))
    assert padded == ratio(parts, wholes)


def test_the_interval_covers_the_truth_about_95_times_in_100() -> None:
    rng = np.random.default_rng(1)
    intervals = [ratio(*_drawn(80, rng)) for _ in range(300)]
    covered = np.mean([one.low <= 0.3 <= one.high for one in intervals])
    # Three standard errors of 300 draws around 95 %, and a percentile bootstrap of 80 texts is a little too sure.
    assert 0.90 <= covered <= 0.985


def test_the_interval_of_an_average_over_few_words_is_wrong_where_words_are_taken_for_texts() -> None:
    # A positive control of the test above: each text four times over must look surer than it is.
    rng = np.random.default_rng(1)
    drawn = [_drawn(20, rng) for _ in range(300)]
    intervals = [ratio(np.repeat(parts, 4), np.repeat(wholes, 4)) for parts, wholes in drawn]
    assert np.mean([one.low <= 0.3 <= one.high for one in intervals]) < 0.85


def test_the_interval_shrinks_with_the_root_of_the_texts() -> None:
    rng = np.random.default_rng(2)
    few, many = (np.mean([_width(ratio(*_drawn(texts, rng))) for _ in range(20)]) for texts in (50, 800))
    assert few / many == pytest.approx(4.0, rel=0.2)


def _width(estimate: Estimate) -> float:
    return estimate.high - estimate.low


def test_the_same_rows_give_the_same_interval() -> None:
    parts, wholes = _drawn(40, np.random.default_rng(3))
    assert ratio(parts, wholes) == ratio(parts, wholes)
    assert ratio(parts, wholes) != ratio(parts, wholes, seed=1)


@pytest.mark.parametrize("texts", [5, 20, 200])
def test_nothing_found_in_a_few_texts_is_no_proof_that_nothing_is_there(texts: int) -> None:
    wholes = np.full(texts, 2.0)
    nothing, everything = ratio(np.zeros(texts), wholes), ratio(wholes, wholes)
    # The exact binomial bound: with this share, all texts would come out empty once in forty times.
    assert (1 - nothing.high) ** texts == pytest.approx(0.025)
    assert (nothing.value, nothing.low) == (0.0, 0.0)
    assert (everything.value, everything.high) == (1.0, 1.0)
    assert everything.low == pytest.approx(1 - nothing.high)


def test_one_row_tells_nothing_about_others() -> None:
    assert ratio(np.array([1.0]), np.array([2.0])) == Estimate(value=0.5, low=0.0, high=1.0)


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="every whole is zero"):
        ratio(np.zeros(3), np.zeros(3))


def test_it_reads_as_a_number_with_its_interval() -> None:
    assert str(Estimate(value=0.5, low=0.25, high=0.75)) == "0.500 [0.250, 0.750]"
