from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import CommandLine, check_refusal
from support.corpora import CITIES, ILLNESSES
from vecveil.audit import EXAMPLES, Example, Experiment

PRIVATE = ILLNESSES + CITIES


def test_a_report_shows_examples_unless_told_not_to(run: CommandLine, audited: Path) -> None:
    examples = Experiment(audited / "out").read(EXAMPLES, tuple[Example, ...])
    assert run("report", "out", "--title", "For the board").code == 0
    page = (audited / "out" / "report.html").read_text()
    assert all(token in page for example in examples for token in example.tokens)
    assert "For the board" in page
    outcome = run("report", "out", "--no-texts", "--out", "shown.html")
    assert outcome.code == 0, outcome.err
    assert "report written to shown.html" in outcome.err
    shown = (audited / "shown.html").read_text()
    assert not any(word in shown for word in PRIVATE)
    # The one with texts stays where it was, and can be read by its owner only.
    assert (audited / "out" / "report.html").read_text() == page
    assert (audited / "out" / "report.html").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("nowhere",), ("nowhere has no results.json: it is not an audit's folder",)),
        (("a.veil",), ("a.veil has no results.json: it is not an audit's folder",)),
        (("out", "--out", "none/report.html"), ("none/report.html could not be written",)),
    ],
)
def test_a_report_that_cannot_be_written_is_refused(
    run: CommandLine, audited: Path, arguments: tuple[str, ...], named: tuple[str, ...]
) -> None:
    check_refusal(run("report", *arguments), *named)


def test_broken_results_are_named(run: CommandLine, audited: Path) -> None:
    (audited / "out" / "results.json").write_text('{"plan": ')
    check_refusal(run("report", "out"), "out/results.json does not hold what an audit writes there")
