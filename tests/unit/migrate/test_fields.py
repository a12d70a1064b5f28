from __future__ import annotations

import pytest

from vecveil.migrate.fields import TextFinder, covers, find_leaves, find_outermost, remove_fields


def test_values_are_found_with_their_places() -> None:
    span = {"start": 0, "end": 2, "label": "NAME"}
    row = {"a": {"b": 1, "c": {}}, "d": {"hiv": 0.5, "flu": 0.1}, "metadata": {"page": 1, "year": 2}, "span": span}
    assert list(find_leaves(row)) == [
        (("a", "b"), 1),
        (("a", "c"), {}),
        (("d",), {"hiv": 0.5, "flu": 0.1}),
        (("metadata", "page"), 1),
        (("metadata", "year"), 2),
        (("span",), span),
    ]


def test_of_fields_inside_of_each_other_the_outermost_is_named() -> None:
    assert find_outermost({("a", "b"), ("a",), ("c", "d")}) == [("a",), ("c", "d")]
    assert find_outermost({(), ("a",)}) == [()]


def test_fields_are_taken_out_wherever_they_are() -> None:
    row = {"a": {"b": 1, "c": 2}, "d": 3}
    assert remove_fields(row, [("a", "b"), ("d",)]) == {"a": {"c": 2}}
    assert remove_fields(row, [("a",)]) == {"d": 3}
    assert remove_fields(row, []) == row
    assert row == {"a": {"b": 1, "c": 2}, "d": 3}


def test_a_field_is_left_out_with_what_it_is_inside_of() -> None:
    assert covers({("a",)}, ("a", "b"))
    assert covers({()}, ("a",))
    assert not covers({("a", "b")}, ("a",))
    assert not covers(set(), ("a",))


LONG = "a note of more than four words"


def seen(*rows: dict[str, object], most: int = 100) -> TextFinder:
    finder = TextFinder(most=most)
    finder.add(rows)
    return finder


def found_in(*rows: dict[str, object]) -> list[tuple[str, ...]]:
    return seen(*rows).find_texts()


def test_what_reads_like_text_in_half_of_the_rows_is_found_however_deep() -> None:
    rows: list[dict[str, object]] = [{"title": "short", "more": {"note": "x", "tag": "a"}} for _ in range(3)]
    rows[0] = {"title": LONG, "more": {"note": LONG, "tag": "b"}}
    rows.append({"title": "short", "more": {"note": LONG, "tag": "b"}})
    assert found_in(*rows) == [("more", "note")]
    assert found_in({"x": "a" * 65}) == [("x",)]
    assert found_in({"words": ["a", "note", "word", "by", "word"]}) == [("words",)]


def test_texts_are_known_by_name_too_and_vectors_by_their_look() -> None:
    assert found_in({"Text": "hm"}) == [("Text",)]
    assert found_in({"a": {"page_content": "hm"}}) == [("a", "page_content")]
    assert found_in({"old": [0.5, 0.25], "older": [[1, 2]], "tags": ["a"], "page": 3, "none": None}) == [
        ("old",),
        ("older",),
    ]


def test_what_has_a_name_that_reads_like_a_text_is_left_out_as_a_whole_and_the_name_is_never_shown() -> None:
    assert found_in({"notes": {"tag": "a"}, "page": 1}, {"notes": {LONG: True}}) == [("notes",)]
    assert seen({"notes": {LONG: {"a": True}}}).find_vectors() == [("notes",)]
    assert found_in({LONG: True}) == [()]
    assert found_in({"notes": {LONG: None}, "tags": {LONG: {}}}) == [("notes",), ("tags",)]
    assert found_in({"notes": [{LONG: True}]}) == [("notes",)]


def test_mappings_in_lists_are_looked_into() -> None:
    assert found_in({"chunks": [{"vec": [0.1, 0.2]}]}) == [("chunks",)]
    assert found_in({"parts": [{"text": "hm"}]}) == [("parts",)]
    assert found_in({"spans": [{"start": 0, "end": 2, "label": "NAME"}]}) == [("spans",)]
    assert found_in({"span": {"start": 0, "end": 2, "label": "NAME"}, "authors": [{"name": "Li"}]}) == [("span",)]


def test_a_mapping_of_numbers_is_a_vector_but_not_where_frameworks_keep_the_fields_of_a_row() -> None:
    assert found_in({"lexical_weights": {"hiv": 0.8, "aids": 0.1}}) == [("lexical_weights",)]
    assert found_in({"weights": {"hiv": 0.8, "aids": 0.1}}, {"weights": {"text": "hm"}}) == [("weights",)]
    assert found_in({"weights": {"hiv": 0.8}}, {"weights": {"flu": 0.1}}) == [("weights",)]
    assert found_in({"place": {"page": 1}}, {"place": {"page": 2}}) == []
    assert found_in({"metadata": {"page": 1, "year": 2020}}) == []
    assert found_in({"metadata": {"weights": {"hiv": 0.8, "aids": 0.1}}}) == [("metadata", "weights")]


def test_texts_and_vectors_are_told_apart() -> None:
    finder = seen({"note": LONG, "old": [0.5], "spans": [{"start": 1, "end": 2, "label": "A"}], "blob": b"x" * 99})
    assert finder.find_vectors() == [("blob",), ("old",), ("spans",)]
    assert finder.find_texts() == [("blob",), ("note",), ("old",), ("spans",)]


def test_what_is_not_left_out_goes_along() -> None:
    finder = seen({"a": {"b": 1, "c": "x"}, "d": 3, "e": None})
    assert finder.find_others([]) == [("a", "b"), ("a", "c"), ("d",)]
    assert finder.find_others([("a",)]) == [("d",)]
    assert finder.find_others([()]) == []


@pytest.mark.parametrize("inner", [{"x": "y"}, "y", None, {}])
def test_what_has_names_without_end_is_left_out_as_a_whole(inner: object) -> None:
    rows: list[dict[str, object]] = [{"by_patient": {f"patient {row}": inner}, "page": 1} for row in range(300)]
    finder = seen(*rows, most=50)
    assert finder.find_texts() == finder.find_vectors() == [("by_patient",)]
    assert finder.find_others(finder.find_texts()) == [("page",)]
    everything = seen(*[{f"patient {row}": inner} for row in range(300)], most=50)
    assert everything.find_texts() == [()]
    assert remove_fields({"a": 1}, everything.find_texts()) == {}
