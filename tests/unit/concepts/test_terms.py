from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts.passage import Passage, Span
from vecveil.concepts.terms import Terms
from vecveil.core.errors import ArtifactError, InvalidInputError


def _found(text: str, *terms: str, case_sensitive: bool = False) -> list[str]:
    spans = Terms(terms=terms, case_sensitive=case_sensitive).find(text)
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize("text", ["art", "Art.", "(ART)", "art_deco", "pop-art", "'art'", "art’s"])
def test_a_term_is_found_as_a_whole_word_in_any_case(text: str) -> None:
    assert [found.lower() for found in _found(text, "art")] == ["art"]


@pytest.mark.parametrize("text", ["heart", "arts", "art2", "2art", "arté", "art\u0301", "éart"])
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
