from __future__ import annotations

import math

import numpy as np
import pytest

from support.veils import unit_vectors
from vecveil.attacks import Recovery, Sample
from vecveil.audit.metrics import Reading, mitigation, ratio, tradeoff_rate
from vecveil.audit.rows import Estimate
from vecveil.concepts import SensitiveToken
from vecveil.core.arrays import Vector
from vecveil.core.errors import InvalidInputError

TOKENS = (("anna", "rome"), ("boris",), ("rome",), ())
VOCABULARY = ("anna", "oslo", "rome")
SCORES = np.array([[0.9, 0.1, 0.8], [0.7, 0.2, 0.3], [0.4, 0.1, 0.6], [0.2, 0.5, 0.3]])
CONFIDENCE = ([0.9, 0.8], [0.0], [0.6], [])


def _token(word: str) -> SensitiveToken:
    return SensitiveToken(word, "CITY" if word in {"rome", "oslo"} else "PERSON")


def _reading(
    words: tuple[set[str], ...] = ({"anna", "was", "in", "oslo"}, {"anna"}, {"rome"}, {"oslo"}),
    tokens: tuple[tuple[str, ...], ...] = TOKENS,
    scores: Vector = SCORES,
) -> Reading:
    sample = Sample(
        vectors=unit_vectors(len(tokens)),
        texts=tuple(f"text {row}" for row in range(len(tokens))),
        tokens=tuple(tuple(map(_token, one)) for one in tokens),
    )
    recovery = Recovery(words=tuple(map(frozenset, words)), vocabulary=VOCABULARY, scores=scores)
    return Reading(sample=sample, recovery=recovery, confidence=tuple(map(np.array, CONFIDENCE[: len(tokens)])))


def test_leakage_is_the_share_of_tokens_that_stand_in_the_reading_of_their_own_text() -> None:
    # Of anna, rome, boris and rome, the first and the last were read.
    assert _reading().leakage().value == 2 / 4


def test_leakage_counts_the_words_of_sentences_and_of_lists_alike() -> None:
    words = ({"rome"}, {"boris", "sleeps"}, set[str](), {"anna"})
    assert _reading(words).leakage().value == 2 / 4


def test_chance_holds_each_text_against_the_reading_of_another() -> None:
    words = ({"anna", "rome"}, {"boris"}, {"rome"}, {"anna", "boris", "rome"})
    reading = _reading(words)
    assert reading.leakage().value == 1.0
    # Shifted by one, text 0 gets {rome} and hits once, text 1 gets {anna, rome}, text 2 {boris}: 1 of 4 tokens.
    # Shifted by two, text 0 gets {boris}, text 1 {rome}, text 2 {anna, rome} and hits once: 1 of 4 tokens again.
    assert reading.chance(np.random.default_rng(0)) == 1 / 4


def test_an_attack_that_always_says_the_same_reads_no_more_than_chance() -> None:
    reading = _reading(({"rome"},) * 4)
    assert reading.chance(np.random.default_rng(0)) == reading.leakage().value == 2 / 4


def test_chance_of_a_single_text_is_nothing() -> None:
    reading = _reading(({"boris"}, {"boris"}), (("boris",), ()), SCORES[:2])
    assert reading.chance(np.random.default_rng(0)) == 0.0


def test_confidence_is_the_mean_probability_of_the_true_tokens() -> None:
    assert _reading().mean_confidence().value == pytest.approx((0.9 + 0.8 + 0.0 + 0.6) / 4)


def test_precision_is_the_share_of_claimed_sensitive_words_that_are_there() -> None:
    # Claimed were anna and oslo, anna, rome, oslo; "was" and "in" are no sensitive words. True are anna and rome.
    precision = _reading().precision()
    assert precision is not None
    assert precision.value == 2 / 5


def test_there_is_no_precision_without_a_claim() -> None:
    assert _reading(({"was"}, set[str](), {"in"}, set[str]())).precision() is None


def test_top_one_asks_for_the_surest_word_of_texts_that_have_one() -> None:
    # anna is in the first text, anna is not in the second, rome is in the third; the fourth holds nothing.
    assert _reading().top_one().value == 2 / 3


def test_auc_compares_words_that_are_there_with_words_that_are_not() -> None:
    # There are anna and rome in text 0 (0.9, 0.8) and rome in text 2 (0.6); nine other scores, of which only 0.7 is
    # above 0.6, and none above the other two: 26 of 27 comparisons are won.
    assert _reading().auc() == pytest.approx(26 / 27)


def test_auc_is_blind_where_every_word_is_everywhere() -> None:
    reading = _reading(({"rome"},) * 2, (VOCABULARY, VOCABULARY), SCORES[:2])
    assert reading.auc() == 0.5


def test_known_is_the_share_of_tokens_that_the_attack_has_met() -> None:
    assert _reading().known_share() == 3 / 4


def test_categories_split_leakage_and_confidence_by_label() -> None:
    categories = _reading().categories()
    assert {label: found.tokens for label, found in categories.items()} == {"CITY": 2, "PERSON": 2}
    assert categories["PERSON"].leakage.value == 1 / 2
    assert categories["CITY"].leakage.value == 1 / 2
    assert categories["PERSON"].confidence.value == pytest.approx(0.9 / 2)
    assert categories["CITY"].confidence.value == pytest.approx((0.8 + 0.6) / 2)


def test_the_most_frequent_category_comes_first() -> None:
    tokens = (("anna", "rome"), ("boris",), ("anna",), ())
    assert list(_reading(tokens=tokens).categories()) == ["PERSON", "CITY"]


def test_the_tokens_of_all_categories_are_all_tokens() -> None:
    reading = _reading()
    categories = reading.categories().values()
    hits = sum(found.leakage.value * found.tokens for found in categories)
    assert hits / sum(found.tokens for found in categories) == reading.leakage().value


def test_texts_without_sensitive_tokens_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="sensitive tokens"):
        _reading(({"anna"},) * 2, ((), ()), SCORES[:2])


def test_the_trade_off_rate_is_leakage_prevented_per_utility_lost() -> None:
    rate = tradeoff_rate(leakage=0.2, undefended_leakage=0.6, utility=0.7, undefended_utility=0.75)
    assert rate == pytest.approx(0.4 / 0.05)
    assert tradeoff_rate(leakage=0.7, undefended_leakage=0.6, utility=0.7, undefended_utility=0.75) < 0


@pytest.mark.parametrize(("leakage", "rate"), [(0.2, math.inf), (0.6, 0.0), (0.7, 0.0)])
def test_the_trade_off_rate_where_nothing_was_lost(leakage: float, rate: float) -> None:
    for utility in (0.75, 0.8):
        found = tradeoff_rate(leakage=leakage, undefended_leakage=0.6, utility=utility, undefended_utility=0.75)
        assert found == rate


def test_mitigation_is_the_relative_change_of_leakage() -> None:
    assert mitigation(leakage=0.15, undefended=0.6) == pytest.approx(-0.75)
    assert mitigation(leakage=0.6, undefended=0.6) == 0.0


def test_there_is_no_mitigation_of_nothing() -> None:
    with pytest.raises(InvalidInputError, match="without a defense"):
        mitigation(leakage=0.0, undefended=0.0)


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
