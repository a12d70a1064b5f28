"""`vecveil selftest`: test the installed mechanisms on this machine."""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table
from rich.text import Text

from vecveil.cli.console import output, progress_bar, say
from vecveil.cli.options import flag, list_names, option
from vecveil.core.atomic import atomic_file, exists_already
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS
from vecveil.testing.selftest import SelfTest, SelfTestResult
from vecveil.testing.selftest.privacy_loss import Loss
from vecveil.testing.selftest.result import Finding

SHOWN_FAILURES = 20


@click.command(short_help="Test the installed mechanisms and their noise on this machine.")
@option("--mechanism NAME", list_names("Test only this one", MECHANISMS), into="mechanisms", multiple=True)
@option("--samples N", "Releases of each input.", default=30_000)
@option(
    "--false-alarms RATE", "Chance that an installation without fault fails, over all checks together.", default=1e-6
)
@flag("--thorough", "Test up to 4,096 dimensions too; takes minutes.")
@option("--seed N", "Repeat a run. Without it, noise is drawn as it is in use.", type=int)
@option("--json FILE", "Write every finding to a file.", into="json_file")
@flag("--overwrite", "Replace that file.")
def selftest(*, json_file: Path | None, overwrite: bool, **settings: Any) -> None:
    """Test, with statistics, that noise has its law and that releases give away no more than promised.

    Broken samplers and streams are tested as well, and must be caught. Ends with 0 if all is well, and with 1 if a
    check fails or a broken part goes unseen. A pass is no proof of privacy; docs/selftest.md says what it is.
    """
    if json_file is not None:
        _require_free(json_file, overwrite=overwrite)
    result = SelfTest(**settings).run(progress=progress_bar)
    console = output()
    for part in (subject_table(result), canary_table(result), *failure_lines(result)):
        console.print(part)
    console.print(result.verdict, style="green" if result.passed else "bold red")
    if json_file is not None:
        with atomic_file(json_file) as draft:
            draft.write_text(json.dumps(result.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        say(f"findings written to {json_file}")
    click.get_current_context().exit(0 if result.passed else 1)


def _require_free(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise exists_already(path)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInputError(f"{path} can't be written: it is a folder, or there is none to hold it")


def subject_table(result: SelfTestResult) -> Table:
    """Return one line per subject: how many checks, the worst of them, and how near a bound came to its promise."""
    table = Table("tested", "checks", "smallest p", "loss", "delta", box=box.SIMPLE_HEAD)
    table.caption = (
        f"A check fails at p = {result.level:.2g}. Loss and delta: what releases give away at least (wrong with a "
        "chance of that p) / what they may give away."
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for subject, group in groupby(result.findings, key=lambda finding: finding.subject):
        findings = list(group)
        smallest = min(finding.pvalue for finding in findings)
        table.add_row(
            subject,
            f"{len(findings)}",
            f"{smallest:.2g}",
            _nearest(findings, result.level, check="privacy loss"),
            _nearest(findings, result.level, check="delta at"),
            style="bold red" if smallest <= result.level else None,
        )
    return table


def canary_table(result: SelfTestResult) -> Table:
    """Return one line per canary: which checks caught it, the surest first."""
    table = Table("canary", "caught by", box=box.SIMPLE_HEAD)
    for canary in result.canaries:
        caught = "; ".join(canary.caught_by)
        table.add_row(canary.name, caught or "nothing", style=None if caught else "bold red")
    return table


def failure_lines(result: SelfTestResult) -> Iterator[Text]:
    """Yield the checks that failed."""
    for finding in result.failures[:SHOWN_FAILURES]:
        line = f"{finding.subject}: {finding.check}{f' ({finding.detail})' if finding.detail else ''}"
        line += f", p = {finding.pvalue:.2g}"
        if isinstance(finding, Loss):
            line += f": at least {finding.bound(result.level):.4g}, allowed are {finding.exact:.4g}"
        yield Text(line)
    more = len(result.failures) - SHOWN_FAILURES
    if more > 0:
        yield Text(f"and {more:,} more; --json writes them all")


def _nearest(findings: list[Finding], level: float, *, check: str) -> str:
    """Return bound and limit of the finding whose bound comes nearest to its limit, or goes furthest beyond."""
    losses = [one for one in findings if isinstance(one, Loss) and one.check.startswith(check)]
    if not losses:
        return ""
    pairs = ((one.bound(level), one.exact) for one in losses)
    bound, limit = max(pairs, key=lambda pair: (pair[0] > pair[1], pair[0] / max(pair[1], 1e-12)))
    return f"{bound:.3f} / {limit:.3f}"
