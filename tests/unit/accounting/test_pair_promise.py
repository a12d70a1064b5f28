from __future__ import annotations

import math
from dataclasses import replace

import pytest

from vecveil.accounting import PairPromise, additive_profile
from vecveil.accounting.pair_promise import WordPromise
from vecveil.core.errors import InvalidInputError

PROMISE = PairPromise(share=50, distance=0.4, worst_case=220.0, delta=1e-6, epsilon=102.41529, success=0.8612)


def test_it_holds_what_the_profile_says() -> None:
    profile = additive_profile(epsilon=20.0, dimensions=384, distance=0.5)
    promise = PairPromise.from_profile(profile, percentile=95, distance=0.5, worst_case=10.0)
    assert (promise.share, promise.distance, promise.worst_case, promise.releases) == (95, 0.5, 10.0, 1)
    assert (promise.delta, promise.epsilon, promise.success) == (1e-6, profile.epsilon(1e-6), profile.success)


def test_several_releases_are_composed_and_their_worst_cases_added_up() -> None:
    profile = additive_profile(epsilon=20.0, dimensions=384, distance=0.5)
    promise = PairPromise.from_profile(profile, percentile=50, distance=0.5, worst_case=10.0, delta=1e-5, releases=4)
    assert promise.worst_case == 40.0
    assert promise.epsilon == profile.compose(4).epsilon(1e-5) > profile.epsilon(1e-5)
    assert promise.success == profile.compose(4).success > profile.success
    assert "someone who holds 4 released vectors of the same text" in promise.sentence


def test_the_median_pair_in_one_sentence() -> None:
    assert PROMISE.sentence == (
        "For half of the texts, someone who holds one released vector, knows everything else in the text and must say "
        "whether the private words were in it or not, both being equally likely beforehand, is right in at most 87 of "
        "100 cases; blind guessing gives 50."
    )


def test_the_unusual_pair_speaks_for_all_but_one_text_in_twenty() -> None:
    assert replace(PROMISE, share=95).sentence.startswith("For all but one text in twenty, someone")
    assert replace(PROMISE, share=80).sentence.startswith("For 80 of 100 texts, someone")


@pytest.mark.parametrize(
    ("success", "odds"),
    [
        (0.5, "in at most 50 of 100 cases"),
        (0.5000001, "in at most 50.1 of 100 cases"),
        (0.5101, "in at most 52 of 100 cases"),
        (0.8612, "in at most 87 of 100 cases"),
        (0.9801, "in at most 99 of 100 cases"),
        (0.99001, "in at most 99.1 of 100 cases"),
        (0.9974, "in at most 99.8 of 100 cases"),
        (0.99981, "in practically every case (up to 99.99 of 100)"),
        (0.999901, "in practically every case (up to 100 of 100)"),
        (1.0, "in practically every case (up to 100 of 100)"),
    ],
)
def test_how_often_an_attacker_is_right_is_rounded_up(success: float, odds: str) -> None:
    assert replace(PROMISE, success=success).odds == odds


def test_the_numbers_are_shown_and_epsilon_rounded_up() -> None:
    assert str(PROMISE).splitlines() == [
        "median pair, at a distance of 0.4: a worst-case loss of 220 nats; (ε′, δ) = (102.5, 1e-06)",
        f"  {PROMISE.sentence}",
    ]
    assert replace(PROMISE, share=95).pair == "95th-percentile pair"
    assert replace(PROMISE, epsilon=0.0).numbers == "(ε′, δ) = (0, 1e-06)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"share": 0}, "share must be"),
        ({"share": 100}, "share must be a percentage below 100, got 100"),
        ({"distance": -1.0}, "distance must be"),
        ({"delta": 0.0}, "delta must lie"),
        ({"success": 0.4}, "success must lie between 0.5 and 1, got 0.4"),
        ({"releases": 0}, "releases must be"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        replace(PROMISE, **change)


def test_words_that_are_gone_are_promised_not_to_matter() -> None:
    promise = WordPromise(substitution="remove", epsilon=0.0)
    assert promise.sentence == "a protected vector does not depend on the private words that the concept finds"
    assert "two texts with other words in the same places have the same release" in str(promise)


def test_words_that_are_drawn_are_promised_odds() -> None:
    promise = WordPromise(substitution="randomize", epsilon=4.0)
    assert promise.sentence.endswith("between two private words by a factor of at most e^4")
    assert "ε = 4 for each different value" in str(promise)


def test_a_guess_is_right_as_often_as_randomized_response_lets_it() -> None:
    promise = WordPromise(substitution="randomize", epsilon=math.log(10), candidates=11)
    assert (
        promise.guess == "the best guess among 11 values is right in at most 50 of 100 cases, 9.09 without the vector"
    )
    assert "as often as without the vector" in WordPromise(substitution="remove", epsilon=0.0).guess


@pytest.mark.parametrize("epsilon", [-1.0, math.nan])
def test_there_is_no_such_epsilon(epsilon: float) -> None:
    with pytest.raises(InvalidInputError, match="epsilon of a word"):
        WordPromise(substitution="randomize", epsilon=epsilon)
