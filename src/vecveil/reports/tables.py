"""Tables of an audit as Markdown and CSV files."""

from __future__ import annotations

from pathlib import Path

from vecveil.audit.result import AuditResult
from vecveil.core.atomic import atomic_file
from vecveil.core.errors import ArtifactError
from vecveil.reports.attack_tables import attacks_table, blanks_table, categories_table, probes_table
from vecveil.reports.budget_table import budgets_table
from vecveil.reports.summary import Summary
from vecveil.reports.table import Table
from vecveil.reports.utility_tables import scores_table, tasks_table, trade_offs_table
from vecveil.reports.verdict_tables import exposures_table, overview_table, verdicts_table


def tables(result: AuditResult) -> tuple[Table, ...]:
    """Return every table of `result`, the overview first."""
    summary = Summary.from_result(result)
    return (
        overview_table(result),
        verdicts_table(result),
        exposures_table(result),
        budgets_table(summary),
        attacks_table(summary),
        categories_table(summary),
        blanks_table(summary),
        probes_table(summary),
        tasks_table(summary),
        scores_table(summary),
        trade_offs_table(summary),
    )


def write_tables(result: AuditResult, folder: Path) -> tuple[Path, ...]:
    """Write `tables.md` and a CSV file for each table into `folder`, each whole or not at all. They hold no text.

    Returns:
        The files, `tables.md` first.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ArtifactError(f"{folder} could not be made: {error.strerror or error}") from error
    found = tables(result)
    heading = f"# Audit of {result.finished}\n\nPlan {result.plan_digest}.\n"
    files = {"tables.md": "\n".join([heading, *(table.markdown() for table in found)])}
    files |= {f"{table.name}.csv": table.csv() for table in found}
    for name, text in files.items():
        with atomic_file(folder / name) as draft:
            draft.write_text(text, encoding="utf-8", errors="replace")
    return tuple(folder / name for name in files)
