"""A ledger as lines, as a table, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vecveil.accounting.ledger.charge import UNIT

if TYPE_CHECKING:
    from rich.table import Table

    from vecveil.accounting.ledger import Ledger, RunSummary, Totals

SHORT = 8
"""Characters of a veil's digest that tell it from others."""


def facts(ledger: Ledger, limit: float | None, totals: Totals) -> list[str]:
    """Return the ledger as a whole, a line for each fact."""
    return [
        f"ledger:   {ledger.where}",
        f"limit:    {'none' if limit is None else f'{limit:.6g} {UNIT}, for each record'}",
        f"highest:  {totals.highest:.6g} {UNIT}, the most that any record has lost",
        f"records:  {totals.records:,}",
        f"releases: {totals.releases:,}",
    ]


def runs_table(runs: Sequence[RunSummary]) -> Table:
    """Return the runs, the oldest first."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("started (UTC)", "kind", "veil", "mechanism", "epsilon", "distance", "noise"):
        table.add_column(name, overflow="fold")
    for name in ("records", "releases"):
        table.add_column(name, justify="right", no_wrap=True)
    for run in runs:
        table.add_row(
            f"{run.started:%Y-%m-%d %H:%M}",
            run.charge.kind,
            run.charge.veil[:SHORT],
            run.charge.mechanism,
            "not bounded" if run.charge.epsilon is None else f"{run.charge.epsilon:.6g}",
            (run.charge.distance or "").removesuffix(" distance"),
            run.charge.noise,
            f"{run.records:,}",
            f"{run.releases:,}",
        )
    return table


def described(ledger: Ledger, limit: float | None, totals: Totals, runs: Sequence[RunSummary]) -> dict[str, Any]:
    """Return the same for a program to read."""
    return {
        "ledger": ledger.where,
        "id": ledger.id,
        "unit": UNIT,
        "limit": limit,
        **asdict(totals),
        "runs": [
            {
                **asdict(run.charge),
                "started": run.started.isoformat(),
                "releases": run.releases,
                "records": run.records,
            }
            for run in runs
        ],
    }
