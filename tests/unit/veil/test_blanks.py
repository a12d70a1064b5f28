from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.concepts import Concept, Passage, Span, annotated, terms
from vecveil.substitutions import Substitution
from vecveil.substitutions.plain import Keep, Placeholder, Remove
from vecveil.substitutions.randomize import Randomize
from vecveil.veil import Veil
from vecveil.veil.blanks import Blank, choose_blanks, compare_blanks, read_blanks

WORDS = ("gout", "asthma", "lupus", "mumps")
CONCEPT = terms(*WORDS, label="DISEASE")
TEXTS = [
    f"{name} has {word} and takes {drug}." for name in ("He", "She", "Ann") for word in WORDS for drug in ("a", "b")
]
VALUES = {"DISEASE": WORDS}


def _veil(substitution: Substitution, concept: Concept = CONCEPT) -> Veil:
    veil = made_veil(epsilon=2000.0)
    provenance = replace(veil.provenance, concept=dict(concept.summary()))
    return replace(veil, substitution=substitution, concept=concept, provenance=provenance)


def _blanks(texts: Sequence[str] = TEXTS, **settings: Any) -> list[Blank]:
    corpus = [Passage(text) for text in texts]
    return choose_blanks(corpus, CONCEPT.find_all(corpus), VALUES, np.random.default_rng(0), **settings)


def _read(substitution: Substitution, ratio: float, *, blanks: Sequence[Blank] | None = None, **settings: Any) -> Any:
    release = _veil(substitution).release(noise_ratio=ratio, rng=np.random.default_rng(1), ledger="none")
    return read_blanks(release, WordEmbedder().embed, blanks or _blanks(), **settings)


def test_a_blank_is_the_text_with_every_candidate_in_every_place_of_one_value() -> None:
    (blank,) = _blanks(["Gout, my gout, is no asthma."], most_candidates=10)
    texts = {passage.text for passage in blank.candidates}
    assert blank.candidates[blank.truth].text == "Gout, my gout, is no asthma."
    assert len(texts) == 3
    if blank.candidates[blank.truth].text[blank.places[blank.truth][0].start] == "G":
        assert texts == {f"{word.capitalize()}, my {word}, is no asthma." for word in ("gout", "lupus", "mumps")}
    for passage, places in zip(blank.candidates, blank.places, strict=True):
        values = {passage.text[place.start : place.end].lower() for place in places}
        assert len(values) == 1
        assert values <= {*WORDS}


def test_annotations_move_along_with_a_longer_or_shorter_value() -> None:
    text = "He has gout, sees Dr. Ito and rests."
    passage = Passage(text, (Span(7, 11, "DISEASE"), Span(22, 25, "PERSON")))
    found = annotated("DISEASE").find_all([passage])
    (blank,) = choose_blanks([passage], found, {"DISEASE": ("multiple sclerosis", "flu")}, np.random.default_rng(0))
    for one, places in zip(blank.candidates, blank.places, strict=True):
        marked = {span.label: one.text[span.start : span.end] for span in one.annotations}
        assert marked["PERSON"] == "Ito"
        assert marked["DISEASE"] == one.text[places[0].start : places[0].end]
        assert marked["DISEASE"] in {"gout", "multiple sclerosis", "flu"}


def test_there_is_no_blank_without_a_second_candidate() -> None:
    corpus = [Passage("He has gout.")]
    assert choose_blanks(corpus, CONCEPT.find_all(corpus), {"DISEASE": ("gout",)}, np.random.default_rng(0)) == []


def test_words_that_stay_are_read_with_certainty_through_faint_noise() -> None:
    readings = _read(Keep(), 0.01)
    assert readings.right.mean() == 1.0
    assert readings.bits.mean() == pytest.approx(2.0, abs=0.01)
    assert set(readings.ranks) == {1.0}


def test_strong_noise_leaves_a_guess() -> None:
    readings = _read(Keep(), 9.9)
    assert readings.sure.mean() < 0.4
    assert abs(readings.bits.mean()) < 0.2


@pytest.mark.parametrize("substitution", [Remove(), Placeholder()])
@pytest.mark.parametrize("ratio", [0.001, 1.0])
def test_words_that_the_release_does_not_depend_on_are_guessed_by_chance_exactly(
    substitution: Substitution, ratio: float
) -> None:
    readings = _read(substitution, ratio)
    np.testing.assert_array_equal(readings.right, readings.chance)
    np.testing.assert_array_equal(readings.bits, 0.0)
    assert set(readings.ranks) == {2.5}


def test_randomized_words_are_guessed_as_often_as_their_law_says() -> None:
    epsilon = 1.5
    most = 1 / (1 + 3 * np.exp(-epsilon))
    law = Randomize(epsilon=epsilon, candidates=VALUES)
    readings = [_read(law, 0.001, blanks=_blanks(TEXTS)) for _ in range(2)]
    # Without noise to speak of, the best guess is the word that came out, and it is as sure as the law.
    for one in readings:
        np.testing.assert_allclose(one.sure, most)
    release = _veil(law).release(noise_ratio=0.001, rng=np.random.default_rng(5), ledger="none")
    right = np.concatenate([read_blanks(release, WordEmbedder().embed, _blanks()).right for _ in range(40)])
    assert right.mean() == pytest.approx(most, abs=0.05)


def test_no_noise_makes_a_randomized_word_surer_than_its_law() -> None:
    law = Randomize(epsilon=1.5, candidates=VALUES)
    for ratio in (0.1, 1.0, 5.0):
        assert _read(law, ratio).sure.max() <= 1 / (1 + 3 * np.exp(-1.5)) + 1e-9


def test_a_candidate_that_the_concept_misses_shows() -> None:
    narrow = terms("gout", "asthma", "lupus", label="DISEASE")
    corpus = [Passage(text) for text in TEXTS if "mumps" not in text]
    blanks = choose_blanks(corpus, narrow.find_all(corpus), VALUES, np.random.default_rng(0))
    release = _veil(Remove(), narrow).release(noise_ratio=0.001, rng=np.random.default_rng(1), ledger="none")
    readings = read_blanks(release, WordEmbedder().embed, blanks)
    # Mumps would have stayed in the text, so it is ruled out.
    np.testing.assert_allclose(readings.right, 1 / 3)


def test_vectors_without_their_texts_are_read_like_kept_words() -> None:
    assert _read(Remove(), 0.01, texts=False).right.mean() == 1.0


def test_without_noise_equal_vectors_share_the_guess() -> None:
    blanks, embed = _blanks(), WordEmbedder().embed
    plain = compare_blanks(embed, blanks, [[one.text for one in blank.candidates] for blank in blanks])
    redacted = compare_blanks(embed, blanks, [[CONCEPT.remove(one) for one in blank.candidates] for blank in blanks])
    assert plain.right.mean() == 1.0
    np.testing.assert_array_equal(redacted.right, redacted.chance)


def test_no_blanks_give_no_readings() -> None:
    release = _veil(Keep()).release(noise_ratio=1.0, rng=np.random.default_rng(1), ledger="none")
    assert read_blanks(release, WordEmbedder().embed, []).posteriors == ()


def test_another_form_of_the_truth_is_no_other_candidate() -> None:
    for text in ("She has no gouts.", "She has no gout, nor gouts."):
        (blank,) = _blanks([text], most_candidates=10)
        assert {passage.text for passage in blank.candidates} - {text} == {
            text.replace("gouts", word).replace("gout", word) for word in WORDS[1:]
        }
