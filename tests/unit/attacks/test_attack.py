from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from vecveil.attacks import ATTACKS, Sample, build_attack
from vecveil.attacks.averaging import Averaging
from vecveil.attacks.mlc import Mlc
from vecveil.concepts import SensitiveToken
from vecveil.core.errors import InvalidInputError, UnknownNameError

TOKENS = ((SensitiveToken("rome", "GPE"), SensitiveToken("anna", "PERSON")), (), (SensitiveToken("anna", "PERSON"),))

SAMPLE = Sample(
    vectors=np.eye(3),
    texts=("rome oslo", "", "lima rome"),
    tokens=((SensitiveToken("rome", "X"), SensitiveToken("oslo", "X")), (), (SensitiveToken("lima", "X"),)),
)


def sample(**changes: Any) -> Sample:
    return Sample(**{"vectors": np.eye(3), "texts": ("anna in rome", "nothing", "anna"), "tokens": TOKENS, **changes})


def test_the_vocabulary_is_every_word_once_and_sorted() -> None:
    assert sample().vocabulary == ("anna", "rome")
    assert len(sample()) == 3


@pytest.mark.parametrize("chosen", [[2, 0], (2, 0), np.array([2, 0]), np.array([2, -3])])
def test_rows_are_taken_in_the_order_they_are_asked_for(chosen: Any) -> None:
    part = sample().rows(chosen)
    np.testing.assert_array_equal(part.vectors, np.eye(3)[[2, 0]])
    assert part.texts == ("anna", "anna in rome")
    assert part.tokens == (TOKENS[2], TOKENS[0])


def test_a_sample_may_be_empty() -> None:
    nothing = sample().rows([])
    assert len(nothing) == 0
    assert nothing.vectors.shape == (0, 3)
    assert nothing.vocabulary == ()


def test_truth_values_choose_no_rows() -> None:
    """As numbers they would be rows 0 and 1, again and again."""
    with pytest.raises(InvalidInputError, match="chosen by their numbers, got truth values"):
        sample().rows(np.array([True, False, True]))


def test_vectors_texts_and_tokens_must_match() -> None:
    with pytest.raises(InvalidInputError, match="vectors, texts and tokens must match, got 3, 2 and 3"):
        sample(texts=("one", "two"))


def test_vectors_are_checked_and_become_an_array() -> None:
    assert sample(vectors=[[1, 0], [0, 1], [1, 1]]).rows([1]).vectors.tolist() == [[0.0, 1.0]]
    with pytest.raises(InvalidInputError, match="NaN or infinite numbers, first in row 1"):
        sample(vectors=np.array([[1.0], [np.nan], [1.0]]))


def test_marks_say_which_words_are_in_which_text() -> None:
    flags = SAMPLE.mark_words(("lima", "paris", "rome"))
    assert flags.tolist() == [[False, False, True], [False, False, False], [True, False, False]]
    assert SAMPLE.mark_words(()).shape == (3, 0)


def test_scores_come_in_the_order_of_the_tokens_and_are_zero_for_unknown_words() -> None:
    scores = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    first, second, third = SAMPLE.pick_scores(scores, ("lima", "oslo"))
    assert first.tolist() == [0.0, 0.2]
    assert second.shape == (0,)
    assert second.dtype == np.float64
    assert third.tolist() == [0.5]


def test_attacks_go_by_the_names_that_users_know() -> None:
    assert ATTACKS.names() == ["averaging", "boosted", "geia", "mlc", "nearest", "ridge", "vec2text"]


@pytest.mark.parametrize("name", ATTACKS.names())
def test_every_attack_is_a_frozen_dataclass_with_defaults(name: str) -> None:
    attack: Any = build_attack(name)
    assert attack == build_attack(name, {})
    assert attack.releases >= 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        attack.releases = 5


def test_settings_go_over_the_defaults() -> None:
    assert build_attack("mlc", {"epochs": 3}) == Mlc(epochs=3)
    assert build_attack("averaging", {"releases": 4}) == Averaging(releases=4)


def test_an_unknown_attack_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="unknown attack 'vectotext'; did you mean 'vec2text'"):
        build_attack("vectotext")


@pytest.mark.parametrize("setting", ["epoch", "releases", "name"])
def test_what_is_no_setting_is_refused(setting: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown setting of the attack 'mlc' '{setting}'"):
        build_attack("mlc", {setting: 3})


def test_bad_values_are_refused_at_birth() -> None:
    with pytest.raises(InvalidInputError, match="epochs must be a whole number of at least 1, got 0"):
        build_attack("mlc", {"epochs": 0})
