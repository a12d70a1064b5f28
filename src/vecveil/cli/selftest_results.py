"""The results of a self-test in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from vecveil.testing.selftest import SelfTestResult
    from vecveil.testing.selftest.finding import Finding

SHOWN_FAILURES = 20


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
