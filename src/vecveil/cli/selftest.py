"""`vecveil selftest`: test the installed mechanisms on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vecveil.cli.console import output, progress_bar
from vecveil.cli.options import FILE, list_names
from vecveil.core.atomic import atomic_file, exists_already
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from vecveil.testing.selftest import SelfTestResult
    from vecveil.testing.selftest.result import Finding

SHOWN_FAILURES = 20


@click.command(short_help="Test the installed mechanisms and their noise on this machine.")
@click.option(
    "--mechanism", "mechanisms", multiple=True, metavar="NAME", help=list_names("Test only this one", MECHANISMS)
)
@click.option("--samples", default=30_000, show_default=True, metavar="N", help="Releases of each input.")
@click.option(
    "--false-alarms",
    default=1e-6,
    show_default=True,
    metavar="RATE",
    help="Chance that an installation without fault fails, over all checks together.",
)
@click.option("--thorough", is_flag=True, help="Test up to 4,096 dimensions too; takes minutes.")
@click.option("--seed", type=int, metavar="N", help="Repeat a run. Without it, noise is drawn as it is in use.")
@click.option("--json", "json_file", type=FILE, metavar="FILE", help="Write every finding to a file.")
@click.option("--overwrite", is_flag=True, help="Replace that file.")
@click.pass_context
def selftest(
    ctx: click.Context,
    *,
    mechanisms: tuple[str, ...],
    samples: int,
    false_alarms: float,
    thorough: bool,
    seed: int | None,
    json_file: Path | None,
    overwrite: bool,
) -> None:
    """Test, with statistics, that noise has its law and that releases give away no more than promised.

    Broken samplers and streams are tested as well, and must be caught. Ends with 0 if all is well, and with 1 if a
    check fails or a broken part goes unseen. A pass is no proof of privacy; docs/selftest.md says what it is.
    """
    from vecveil.testing.selftest import SelfTest

    if json_file is not None:
        _require_free(json_file, overwrite=overwrite)
    test = SelfTest(mechanisms=mechanisms, samples=samples, false_alarms=false_alarms, thorough=thorough, seed=seed)
    result = test.run(progress=progress_bar)
    console = output()
    for part in (subject_table(result), canary_table(result), *failure_lines(result)):
        console.print(part)
    console.print(result.verdict, style="green" if result.passed else "bold red")
    if json_file is not None:
        with atomic_file(json_file) as draft:
            draft.write_text(json.dumps(result.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        click.echo(f"findings written to {json_file}", err=True)
    ctx.exit(0 if result.passed else 1)


def _require_free(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise exists_already(path)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInputError(f"{path} can't be written: it is a folder, or there is none to hold it")


def subject_table(result: SelfTestResult) -> Table:
    """Return one line per subject: how many checks, the worst of them, and how near a bound came to its promise."""
    from rich import box
    from rich.table import Table

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
    from rich import box
    from rich.table import Table

    table = Table("canary", "caught by", box=box.SIMPLE_HEAD)
    for canary in result.canaries:
        caught = "; ".join(canary.caught_by)
        table.add_row(canary.name, caught or "nothing", style=None if caught else "bold red")
    return table


def failure_lines(result: SelfTestResult) -> Iterator[Text]:
    """Yield the checks that failed."""
    from rich.text import Text

    for finding in result.failures[:SHOWN_FAILURES]:
        detail = f" ({finding.detail})" if finding.detail else ""
        yield Text(f"{finding.subject}: {finding.check}{detail}, p = {finding.pvalue:.2g}{_bounds(finding, result)}")
    more = len(result.failures) - SHOWN_FAILURES
    if more > 0:
        yield Text(f"and {more:,} more; --json writes them all")


def _nearest(findings: list[Finding], level: float, *, check: str) -> str:
    """Return bound and limit of the finding whose bound comes nearest to its limit, or goes furthest beyond."""
    from vecveil.testing.selftest.privacy_loss import Loss

    pairs = [
        (finding.bound(level), finding.exact)
        for finding in findings
        if isinstance(finding, Loss) and finding.check.startswith(check)
    ]
    if not pairs:
        return ""
    bound, limit = max(pairs, key=lambda pair: (pair[0] > pair[1], pair[0] / max(pair[1], 1e-12)))
    return f"{bound:.3f} / {limit:.3f}"


def _bounds(finding: Finding, result: SelfTestResult) -> str:
    from vecveil.testing.selftest.privacy_loss import Loss

    if not isinstance(finding, Loss):
        return ""
    return f": at least {finding.bound(result.level):.4g}, allowed are {finding.exact:.4g}"
