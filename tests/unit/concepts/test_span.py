from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts.span import Span, disjoint
from vecveil.core.errors import InvalidInputError

_SPANS = st.lists(
    st.builds(
        lambda start, length, label: Span(start, start + length, label),
        st.integers(0, 30),
        st.integers(1, 10),
        st.sampled_from("ABC"),
    )
)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2)])
def test_a_span_covers_at_least_one_character(start: int, end: int) -> None:
    with pytest.raises(InvalidInputError, match=f"got {start}..{end}"):
        Span(start, end, "X")


def test_overlapping_spans_merge_under_the_label_of_the_longest() -> None:
    assert disjoint([Span(4, 12, "LONG"), Span(0, 5, "SHORT")]) == (Span(0, 12, "LONG"),)


def test_spans_that_touch_stay_apart() -> None:
    assert disjoint([Span(2, 4, "B"), Span(0, 2, "A")]) == (Span(0, 2, "A"), Span(2, 4, "B"))


@settings(deadline=None)
@given(_SPANS)
def test_disjoint_spans_cover_the_same_characters_once(spans: list[Span]) -> None:
    merged = disjoint(spans)
    covered = [position for span in merged for position in range(span.start, span.end)]
    assert covered == sorted({position for span in spans for position in range(span.start, span.end)})
    assert disjoint(merged) == merged
    assert disjoint(reversed(spans)) == merged
