from __future__ import annotations

import numpy as np
import pytest

from vecveil.concepts import Span, terms
from vecveil.concepts.passage import Passage
from vecveil.substitutions import REMOVED, build_substitution, fold_value, rewrite_text, substitution_from_settings
from vecveil.substitutions.plain import Keep, Placeholder, Remove
from vecveil.substitutions.randomize import Randomize
from vecveil.substitutions.substitution import pick

CONCEPT = terms("gout", "asthma", "lupus", label="DISEASE")
DISEASES = {"DISEASE": ["gout", "asthma", "lupus"]}


def _rewrite(substitution: object, text: str, numbers: list[float] | None = None) -> tuple[str, int]:
    drawn = iter(numbers or [])
    return rewrite_text(substitution, text, CONCEPT.find(text), lambda *_: next(drawn, 0.0))  # type: ignore[arg-type]


def test_a_value_has_one_outcome_in_a_text() -> None:
    law = Randomize(epsilon=1.0, candidates=DISEASES)
    text, count = _rewrite(law, "Gout is gout; asthma isn't GOUT.", [0.99, 0.0])
    assert text.lower().count("lupus") == 3
    assert count == 2


def test_a_replacement_does_not_take_over_the_capital_which_would_tell_of_the_word() -> None:
    text = "Asthma since May, and GOUT. lupus too."
    assert _rewrite(Placeholder(), text) == ("a condition since May, and a condition. a condition too.", 3)


def test_forms_of_a_term_are_one_value() -> None:
    law = Randomize(epsilon=1.0, candidates=DISEASES)
    text, count = _rewrite(law, "Asthma, two asthmas, asthma's toll and an ASTHMA.", [0.99])
    assert text == "lupus, two lupus, lupus's toll and a lupus."
    assert count == 1
    assert _rewrite(Remove(), "She had two asthmas.")[0] == "She had two."
    assert law.outcomes("DISEASE", "gout") == law.outcomes("DISEASE", "ｇöut")


def test_removing_closes_the_gap() -> None:
    assert _rewrite(Remove(), "She has gout, and pain.") == ("She has, and pain.", 1)


def test_articles_and_possessives_go_with_a_word_since_they_tell_of_it() -> None:
    pairs = [("an asthma attack", "a gout attack"), ("Lupus' signs", "Gout's signs"), ("An asthma.", "A gout.")]
    for law in (Remove(), Placeholder()):
        for one, other in pairs:
            assert _rewrite(law, one) == _rewrite(law, other)
    law = Randomize(epsilon=1.0, candidates=DISEASES)
    assert _rewrite(law, "a gout attack", [0.9])[0] == _rewrite(law, "an asthma attack", [0.99])[0] == "a lupus attack"
    assert _rewrite(law, "a lupus attack", [0.3])[0] == "an asthma attack"


@pytest.mark.parametrize(
    "text",
    ["It says '{}' here.", "'Ill with {}' was the answer.", "'{}' toll', he said.", "The {}' toll", "‘{}’s toll’"],
)
def test_an_apostrophe_tells_nothing_of_the_word_before_it(text: str) -> None:
    """Whether it ends a quotation or a name shows in the last letter of the name: it goes either way."""
    forms = [text.format(word) for word in ("lupus", "gout", "asthma")]
    for law in (Remove(), Placeholder()):
        assert len({_rewrite(law, form)[0] for form in (*forms, text.replace("}'", "}'s").format("gout"))}) == 1
    assert _rewrite(Placeholder(), "It says 'lupus' here.")[0] == "It says a condition here."


def test_where_nothing_is_left_a_mark_stands() -> None:
    assert _rewrite(Remove(), "Gout.") == (REMOVED, 1)


def test_a_text_without_private_words_stays() -> None:
    assert _rewrite(Remove(), "...") == ("...", 0)
    assert _rewrite(Keep(), "She has gout.") == ("She has gout.", 1)


def test_texts_that_differ_in_found_words_alone_become_the_same() -> None:
    texts = [f"Mr. Okafor, who has {word}, takes aspirin." for word in ("gout", "asthma", "LUPUS", "gout, asthma")]
    for law in (Remove(),):
        assert len({_rewrite(law, text)[0] for text in texts[:3]}) == 1
    assert len({_rewrite(Placeholder(), text)[0] for text in texts[:2]}) == 1


def test_the_outcome_is_the_one_that_the_number_falls_on() -> None:
    outcomes = {"a": 0.5, "b": 0.25, "c": 0.25}
    assert [pick(outcomes, number) for number in (0.0, 0.49, 0.5, 0.74, 0.75, 0.999)] == ["a", "a", "b", "b", "c", "c"]
    assert pick({"a": 0.3, "b": 0.3}, 0.9999) == "b"


@pytest.mark.parametrize("value", ["Crohn’s  disease", "crohn's disease", "CROHN'S\ndisease"])
def test_values_are_compared_without_variants_of_writing(value: str) -> None:
    assert fold_value(value) == "crohn's disease"


def test_draws_depend_on_label_and_value() -> None:
    asked = []
    text = "Gout and asthma and gout."
    rewrite_text(Keep(), text, CONCEPT.find(text), lambda label, value: asked.append((label, value)) or 0.0)  # type: ignore[func-returns-value]
    assert asked == [("DISEASE", "gout"), ("DISEASE", "asthma")]


@pytest.mark.parametrize(
    "substitution",
    [Keep(), Remove(), Placeholder(phrases={"X": "this"}), Randomize(epsilon=2.0, candidates=DISEASES)],
)
def test_settings_build_the_same_again(substitution: object) -> None:
    assert substitution_from_settings(substitution.settings()) == substitution  # type: ignore[attr-defined]


def test_chances_are_those_of_the_law() -> None:
    law = build_substitution("randomize", {"epsilon": 1.0, "candidates": DISEASES})
    rng = np.random.default_rng(0)
    passage = Passage("gout", (Span(0, 4, "DISEASE"),))
    drawn = [rewrite_text(law, passage.text, passage.annotations, lambda *_: rng.random())[0] for _ in range(4000)]
    kept = np.e / (np.e + 2)
    assert drawn.count("gout") / 4000 == pytest.approx(kept, abs=0.03)
    assert drawn.count("asthma") / 4000 == pytest.approx((1 - kept) / 2, abs=0.03)
