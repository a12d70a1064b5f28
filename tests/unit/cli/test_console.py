from __future__ import annotations

import io

import pytest
from rich.console import Console

from vecveil.cli.console import mark_spans, notices, output, progress_bar, say
from vecveil.concepts import Span


def test_results_and_notices_go_apart(capsys: pytest.CaptureFixture[str]) -> None:
    output().print("a result")
    notices().print("a notice")
    say("one line", "another")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("a result\n", "a notice\none line\nanother\n")


def test_a_bar_passes_everything_on_and_draws_nothing_where_no_one_watches(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress_bar(iter("abc"), label="working", total=3)) == ["a", "b", "c"]
    said = capsys.readouterr()
    assert (said.out, said.err.strip()) == ("", "")


def test_a_long_path_is_not_broken_in_two(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/very" * 40 + "/long.parquet"
    notices().print(f"written to {path}", markup=False)
    assert path in capsys.readouterr().err


def test_long_work_tells_a_log_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("vecveil.cli.console.FIRST_SECONDS", 0.0)
    assert list(progress_bar([500, 507], label="protecting", total=1007, weigh=int)) == [500, 507]
    assert capsys.readouterr().err == "protecting: 500 of 1,007\nprotecting: 1,007 of 1,007\n"


def test_a_log_is_told_how_long_it_will_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 600.0, 720.0, 840.0])
    monkeypatch.setattr("vecveil.cli.console.time.monotonic", lambda: next(clock))
    assert list(progress_bar([1, 2, 3], label="auditing", total=5)) == [1, 2, 3]
    lines = capsys.readouterr().err.splitlines()
    # The first step may load a model, and says nothing of the others.
    assert lines[0] == "auditing: 1 of 5"
    assert lines[1:] == ["auditing: 2 of 5, about 6 minutes left", "auditing: 3 of 5, about 4 minutes left"]


def test_work_inside_other_work_has_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=100)
    monkeypatch.setattr("vecveil.cli.console.notices", lambda: console)
    for _ in progress_bar(range(2), label="auditing", total=2):
        for _ in progress_bar(range(3), label="training", total=3):
            break
    assert list(progress_bar("ab", label="alone", total=2)) == ["a", "b"]
    for label in ("auditing", "training", "alone"):
        assert label in drawn.getvalue()


def test_spans_are_marked_in_brackets_with_their_labels() -> None:
    shown = mark_spans("ab cd ef", (Span(0, 2, "X"), Span(6, 8, "Y")))
    assert shown.plain == "[ab]X cd [ef]Y"


def test_a_text_without_spans_stays_as_it_is() -> None:
    assert mark_spans("[red]ab[/red]", ()).plain == "[red]ab[/red]"


def test_a_text_of_several_lines_is_marked_in_one() -> None:
    assert mark_spans("a\nbc\n", (Span(2, 4, "X"),)).plain == "a↵[bc]X↵"
