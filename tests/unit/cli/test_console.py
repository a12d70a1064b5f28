from __future__ import annotations

import pytest

from vecveil.cli.console import notices, output, progress_bar


def test_results_and_notices_go_apart(capsys: pytest.CaptureFixture[str]) -> None:
    output().print("a result")
    notices().print("a notice")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("a result\n", "a notice\n")


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
    monkeypatch.setattr("vecveil.cli.console.LOG_SECONDS", 0.0)
    assert list(progress_bar([500, 507], label="protecting", total=1007, weigh=int)) == [500, 507]
    assert capsys.readouterr().err == "protecting: 500 of 1,007\nprotecting: 1,007 of 1,007\n"
