from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts.passage import Passage, Span, merge_overlaps, passages, split_chunks
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import silent

_SPANS = st.lists(
    st.builds(
        lambda start, length, label: Span(start, start + length, label),
        st.integers(0, 30),
        st.integers(1, 10),
        st.sampled_from("ABC"),
    )
)


def test_an_annotation_after_the_end_is_an_error_that_holds_no_text() -> None:
    with pytest.raises(InvalidInputError, match="its text of 6 characters") as caught:
        Passage("secret", (Span(3, 7, "X"),))
    assert "secret" not in str(caught.value)


def test_strings_become_passages_and_passages_stay() -> None:
    marked = Passage("gout", (Span(0, 4, "X"),))
    assert passages(["well", marked]) == [Passage("well"), marked]


def test_one_string_is_not_a_list_of_texts() -> None:
    with pytest.raises(InvalidInputError, match="put it into a list"):
        passages("gout")


def test_a_text_that_is_no_string_is_told_by_its_number() -> None:
    texts: list[Any] = ["well", None]
    with pytest.raises(InvalidInputError, match="text 1 must be a string, got NoneType"):
        passages(texts)


def test_a_column_of_texts_is_taken_and_a_table_is_not() -> None:
    table = pa.table({"text": ["well", "gout"]})
    column: Any = table["text"]
    assert passages(column) == [Passage("well"), Passage("gout")]
    with pytest.raises(InvalidInputError, match="one column"):
        passages(table)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2)])
def test_a_span_covers_at_least_one_character(start: int, end: int) -> None:
    with pytest.raises(InvalidInputError, match=f"got {start}..{end}"):
        Span(start, end, "X")


def test_overlapping_spans_merge_under_the_label_of_the_longest() -> None:
    assert merge_overlaps([Span(4, 12, "LONG"), Span(0, 5, "SHORT")]) == (Span(0, 12, "LONG"),)


def test_spans_that_touch_stay_apart() -> None:
    assert merge_overlaps([Span(2, 4, "B"), Span(0, 2, "A")]) == (Span(0, 2, "A"), Span(2, 4, "B"))


@settings(deadline=None)
@given(_SPANS)
def test_disjoint_spans_cover_the_same_characters_once(spans: list[Span]) -> None:
    merged = merge_overlaps(spans)
    covered = [position for span in merged for position in range(span.start, span.end)]
    assert covered == sorted({position for span in spans for position in range(span.start, span.end)})
    assert merge_overlaps(merged) == merged
    assert merge_overlaps(reversed(spans)) == merged


@pytest.mark.parametrize(("rows", "sizes"), [(0, []), (1, [1]), (512, [512]), (1030, [512, 512, 6])])
def test_chunks_hold_every_passage_once_and_in_order(rows: int, sizes: list[int]) -> None:
    corpus = [Passage(str(number)) for number in range(rows)]
    chunks = list(split_chunks(corpus, label="searching", progress=silent))
    assert [len(chunk) for chunk in chunks] == sizes
    assert [passage for chunk in chunks for passage in chunk] == corpus
