from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts.passage import Passage, Span
from vecveil.concepts.terms import Terms
from vecveil.core.errors import ArtifactError, InvalidInputError

OFF = {"inflections": False, "spacing": False, "letters": False, "misspellings": False}


def _found(text: str, *terms: str, **settings: bool) -> list[str]:
    spans = Terms(terms=terms, **settings).find(text)
    return [text[span.start : span.end] for span in spans]


def _values(text: str, *terms: str, **settings: bool) -> list[str]:
    return [span.term for span in Terms(terms=terms, **settings).find(text)]


@pytest.mark.parametrize("text", ["art", "Art.", "(ART)", "art_deco", "pop-art", "'art'", "art’s"])
def test_a_term_is_found_as_a_whole_word_in_any_case(text: str) -> None:
    assert [found.lower() for found in _found(text, "art")] == ["art"]


@pytest.mark.parametrize("text", ["heart", "arts", "art2", "2art", "arté", "éart"])
def test_a_term_inside_another_word_is_not_found(text: str) -> None:
    assert _found(text, "art") == []


def test_a_term_that_ends_in_a_mark_needs_no_boundary_there() -> None:
    assert _found("C++11 and C++", "c++") == ["C++", "C++"]


def test_case_counts_when_it_is_asked_for() -> None:
    assert _found("AIDS aids", "AIDS", case_sensitive=True) == ["AIDS"]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("type 2 diabetes", "Type  2\ndiabetes"),
        ("type  2\tdiabetes ", "type\u00a02 diabetes"),
        ("o'neil", "O’Neil"),
        ("x-ray", "X‑ray"),
        ("x–ray", "x-ray"),
        ("café", "cafe\u0301"),
        ("cafe\u0301", "CAFÉ"),
        ("straße", "STRASSE"),
        ("istanbul", "İstanbul"),
        ("diabetes", "dia\u00adbetes"),
    ],
)
def test_a_term_is_found_however_it_is_written(term: str, text: str) -> None:
    assert _found(f"— {text} —", term) == [text]


def test_offsets_hold_after_letters_that_grow() -> None:
    assert _found("İİ ß ﬃ gout", "gout") == ["gout"]


def test_words_of_scripts_without_blanks_are_found() -> None:
    assert _found("他患有糖尿病多年", "糖尿病") == ["糖尿病"]
    assert _found("그는 당뇨병이 있다", "당뇨병") == ["당뇨병"]


def test_overlapping_terms_become_one_span() -> None:
    assert _found("type 2 diabetes mellitus", "type 2 diabetes", "diabetes", "diabetes mellitus") == [
        "type 2 diabetes mellitus"
    ]


def test_spans_have_the_label() -> None:
    assert Terms(terms=("gout",), label="DISEASE").find("gout!") == (Span(0, 4, "DISEASE"),)


def test_thousands_of_terms_are_each_found() -> None:
    terms = tuple(f"term{number}" for number in range(5000))
    found = Terms(terms=terms).find_all([Passage(f"so {term} it is") for term in terms])
    assert {len(spans) for spans in found} == {1}


@settings(deadline=None)
@given(st.lists(st.sampled_from(["gout", "asthma", "well", "so", "GOUT"])), st.sampled_from([" ", ", ", "\n", " – "]))
def test_removal_leaves_the_other_words_and_nothing_to_remove(words: list[str], between: str) -> None:
    concept = Terms(terms=("gout", "asthma"))
    removed = concept.remove(between.join(words))
    assert [word for word in removed.replace(",", " ").split() if word != "–"] == [
        word for word in words if word in {"well", "so"}
    ]
    assert concept.find(removed) == ()


@settings(deadline=None)
@given(st.text(alphabet=st.characters()), st.text(min_size=1).filter(lambda term: term.strip("\u00ad\u200d").strip()))
def test_any_text_gives_spans_within_it(text: str, around: str) -> None:
    spans = Terms(terms=("gout",)).find(f"{text} gout {around}")
    assert any(span.start <= len(text) + 1 < span.end for span in spans)
    assert all(span.end <= len(text) + 6 + len(around) for span in spans)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ((), "at least one term"),
        (("a", " "), "term 2 of 2 is blank"),
        (("",), "term 1 of 1 is blank"),
        (("\u00ad",), "term 1 of 1 is blank"),
        ("gout", "got one string"),
    ],
)
def test_terms_that_say_nothing_are_errors(terms: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Terms(terms=terms)


@pytest.mark.parametrize(
    ("option", "term", "text"),
    [
        ("inflections", "stroke", "strokes"),
        ("inflections", "biopsy", "biopsies"),
        ("inflections", "metastasis", "metastases"),
        ("inflections", "kidney stones", "kidney stone"),
        ("inflections", "bleed", "bleeding"),
        ("inflections", "Crohn's disease", "Crohn disease"),
        ("inflections", "Crohn's disease", "Crohns disease"),
        ("inflections", "Hodgkin lymphoma", "Hodgkin's lymphomas"),
        ("inflections", "MRI", "MRIs"),
        ("inflections", "Krankheit", "Krankheiten"),
        ("inflections", "dolor", "dolores"),
        ("inflections", "hospital", "hospitais"),
        ("spacing", "heart attack", "heart-attack"),
        ("spacing", "heart attack", "heartattack"),
        ("spacing", "heart attack", "heart_attack"),
        ("spacing", "heart attack", "heart\u200battack"),
        ("spacing", "heart attack", "heart –\u00a0attack"),
        ("spacing", "heart-attack", "heart attack"),
        ("spacing", "type 2 diabetes", "type2 diabetes"),
        ("spacing", "hypertension", "hyper-\ntension"),
        ("spacing", "hypertension", "hyper tension"),
        ("spacing", "diabetes", "dia\u200bbetes"),
        ("spacing", "St. Louis", "St Louis"),
        ("spacing", "covid-19", "covid19"),
        ("letters", "café", "cafe"),
        ("letters", "Müller", "Muller"),
        ("letters", "diabetes", "ｄｉａｂｅｔｅｓ"),
        ("letters", "diabetes", "dіаbetes"),
        ("letters", "gout", "ɡout".replace("ɡ", "𝐠")),
        ("misspellings", "diabetes", "diabtes"),
        ("misspellings", "diabetes", "diabeets"),
        ("misspellings", "diabetes", "diabettes"),
        ("misspellings", "heart attack", "hart attack"),
        ("misspellings", "myocardial infarction", "myocardail infraction"),
    ],
)
def test_other_spellings_stand_for_their_term(option: str, term: str, text: str) -> None:
    around = f"No {text}, though."
    assert _found(around, term) == _found(around, term, **{**OFF, option: True}) == [text]
    assert _values(around, term) == [term]
    assert _found(around, term, **OFF) == []


def test_plurals_are_portuguese_too_where_accents_do_not_matter() -> None:
    assert _values("Duas lesões.", "lesão") == ["lesão"]
    assert _values("Drei Schlaganfälle.", "Schlaganfall") == ["Schlaganfall"]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("diabetes", "diabetic"),
        ("AIDS", "aid"),
        ("Rogers", "roger"),
        ("Mark", "marked"),
        ("wed", "wedding"),
        ("MI", "mis MIS"),
        ("U.S", "us"),
        ("Iran", "I ran"),
        ("therapist", "the rapist"),
        ("C++", "c"),
        ("heart attack", "heart, attack"),
        ("heart attack", "heart. Attack"),
        ("stroke", "strike"),
        ("Hungary", "hungry"),
        ("diabetes", "piabetes"),
        ("diabetes", "diebetis"),
        ("hypertension", "hypotension"),
        ("patient 1234567", "patient 1234568"),
    ],
)
def test_other_words_do_not(term: str, text: str) -> None:
    assert _found(f"No {text} though.", term) == []


def test_a_possessive_stays_outside() -> None:
    assert _found("the stroke's cause", "stroke") == ["stroke"]
    assert _found("the heart attacks' cause", "heart attack") == ["heart attacks"]


def test_terms_that_are_forms_of_one_another_are_one_value() -> None:
    concept = Terms(terms=("strokes", "stroke", "heart-attack", "Heart attack", "gout"))
    assert concept.candidates() == {"TERM": ("strokes", "heart-attack", "gout")}
    assert _values("stroke strokes Stroke", *concept.terms) == ["strokes"] * 3


def test_terms_that_overlap_are_a_value_of_their_own() -> None:
    assert _values("type 2 diabetes mellitus", "type 2 diabetes", "diabetes") == ["type 2 diabetes"]
    assert _values("type 2 diabetes mellitus", "type 2 diabetes", "diabetes mellitus") == [""]


def test_case_counts_in_other_spellings_too() -> None:
    assert _found("Mondays mondays MONDAYS Munday Wednsday", "Monday", "Wednesday", case_sensitive=True) == [
        "Mondays",
        "Wednsday",
    ]


def test_the_value_of_a_span_is_never_shown() -> None:
    (span,) = Terms(terms=("gout",)).find("Gouts")
    assert span.term == "gout"
    assert "gout" not in repr(span)


def test_a_long_term_is_found_as_it_is_written() -> None:
    term = " ".join(f"word{number}" for number in range(20))
    assert _found(f"so {term} it is", term) == [term]
    assert _found(f"so {term}s it is", term) == []


def test_too_many_terms_to_look_for_misspellings_are_refused_where_they_are_named() -> None:
    letters = "abcdefghij"
    terms = (*("".join((*four, "long")) for four in product(letters, repeat=4)), "another")
    with pytest.raises(InvalidInputError, match=r"up to 10,000 different words.*misspellings = false") as caught:
        Terms(terms=terms)
    assert "another" not in str(caught.value)
    assert len(Terms(terms=terms, misspellings=False).find("aaaalong")) == 1


def test_a_long_text_of_short_words_takes_no_time_to_speak_of() -> None:
    text = "a-" * 20_000 + "b" * 100_000
    assert _found(text, "a a a a a a a b", "diabetes") == []


def test_duplicates_are_harmless() -> None:
    assert _found("gout", "gout", "Gout", "gout ") == ["gout"]


def test_its_repr_and_summary_tell_no_term() -> None:
    concept = Terms(terms=("gout", "asthma"))
    assert "gout" not in repr(concept)
    assert concept.summary() == {"kind": "terms", "terms": 2}


def test_equal_terms_are_equal_after_use() -> None:
    used, fresh = Terms(terms=("gout",)), Terms(terms=("gout",))
    used.find("gout")
    assert used == fresh
    assert hash(used) == hash(fresh)


def test_terms_come_from_a_file_with_comments(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("\ufeff# diseases\ngout\n\n  heart failure  \nC#\n", encoding="utf-8")
    concept = Terms.from_settings({"file": "terms.txt", "terms": ["asthma"]}, tmp_path)
    assert concept.terms == ("asthma", "gout", "heart failure", "C#")


def test_a_missing_file_of_terms_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"none\.txt: FileNotFoundError"):
        Terms.from_settings({"file": "none.txt"}, tmp_path)
