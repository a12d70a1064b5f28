from __future__ import annotations

import numpy as np

from vecveil.attacks import Sample
from vecveil.attacks.words import known_scores, present
from vecveil.concepts import SensitiveToken

SAMPLE = Sample(
    vectors=np.eye(3),
    texts=("rome oslo", "", "lima rome"),
    tokens=((SensitiveToken("rome", "X"), SensitiveToken("oslo", "X")), (), (SensitiveToken("lima", "X"),)),
)


def test_present_says_which_words_are_in_which_text() -> None:
    flags = present(SAMPLE, ("lima", "paris", "rome"))
    assert flags.tolist() == [[False, False, True], [False, False, False], [True, False, False]]
    assert present(SAMPLE, ()).shape == (3, 0)


def test_scores_come_in_the_order_of_the_tokens_and_are_zero_for_unknown_words() -> None:
    scores = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    first, second, third = known_scores(scores, ("lima", "oslo"), SAMPLE)
    assert first.tolist() == [0.0, 0.2]
    assert second.shape == (0,)
    assert second.dtype == np.float64
    assert third.tolist() == [0.5]
