from __future__ import annotations

from vecveil.migrate.texts import TextFinder, without

LONG = "a note of more than four words"


def found_in(*rows: dict[str, object]) -> list[tuple[str, ...]]:
    finder = TextFinder()
    finder.look(rows)
    return finder.found()


def test_what_mostly_reads_like_text_is_found_however_deep() -> None:
    rows = [{"title": "short", "more": {"note": LONG, "tag": "a"}}, {"title": LONG, "more": {"note": LONG, "tag": "b"}}]
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


def test_fields_are_taken_out_wherever_they_are() -> None:
    row = {"a": {"b": 1, "c": 2}, "d": 3}
    assert without(row, [("a", "b"), ("d",)]) == {"a": {"c": 2}}
    assert without(row, [("a",)]) == {"d": 3}
    assert without(row, []) == row
    assert row == {"a": {"b": 1, "c": 2}, "d": 3}
