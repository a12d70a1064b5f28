from __future__ import annotations

from vecveil.migrate.fields import covers, leaves, outermost, without


def test_values_are_found_with_their_places() -> None:
    span = {"start": 0, "end": 2, "label": "NAME"}
    row = {"a": {"b": 1, "c": {}}, "d": {"hiv": 0.5, "flu": 0.1}, "metadata": {"page": 1, "year": 2}, "span": span}
    assert list(leaves(row)) == [
        (("a", "b"), 1),
        (("a", "c"), {}),
        (("d",), {"hiv": 0.5, "flu": 0.1}),
        (("metadata", "page"), 1),
        (("metadata", "year"), 2),
        (("span",), span),
    ]


def test_of_fields_inside_of_each_other_the_outermost_is_named() -> None:
    assert outermost({("a", "b"), ("a",), ("c", "d")}) == [("a",), ("c", "d")]
    assert outermost({(), ("a",)}) == [()]


def test_fields_are_taken_out_wherever_they_are() -> None:
    row = {"a": {"b": 1, "c": 2}, "d": 3}
    assert without(row, [("a", "b"), ("d",)]) == {"a": {"c": 2}}
    assert without(row, [("a",)]) == {"d": 3}
    assert without(row, []) == row
    assert row == {"a": {"b": 1, "c": 2}, "d": 3}


def test_a_field_is_left_out_with_what_it_is_inside_of() -> None:
    assert covers([("a",)], ("a", "b"))
    assert covers([()], ("a",))
    assert not covers([("a", "b")], ("a",))
    assert not covers([], ("a",))
