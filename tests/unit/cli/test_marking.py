from __future__ import annotations

from vecveil.cli.marking import marked
from vecveil.concepts import Span


def test_spans_are_marked_in_brackets_with_their_labels() -> None:
    shown = marked("ab cd ef", (Span(0, 2, "X"), Span(6, 8, "Y")))
    assert shown.plain == "[ab]X cd [ef]Y"


def test_a_text_without_spans_stays_as_it_is() -> None:
    assert marked("[red]ab[/red]", ()).plain == "[red]ab[/red]"
