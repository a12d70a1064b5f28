"""Tables of verdicts and of the positive control."""

from __future__ import annotations

from vecveil.audit.results import AuditResult, Verdict
from vecveil.reports.budget_table import SETTING_COLUMNS, setting_cells
from vecveil.reports.combined_verdict import CombinedVerdict
from vecveil.reports.conditions import Condition
from vecveil.reports.summary import Summary
from vecveil.reports.table import Column, Table, TableCell, count, number, share, words

JUDGMENT_COLUMNS = (
    Column(key="seed", title="Seed"),
    Column(key="attack", title="Attack", words=True),
    Column(key="outcome", title="Outcome", words=True),
    Column(key="retained", title="Still read", interval=True),
    Column(key="reason", title="Reason", words=True),
)


def verdicts_table(result: AuditResult) -> Table:
    """Return the verdict of every seed at every budget, with the judgment of every attack."""
    rows = tuple(
        (*setting_cells(Condition.from_setting(verdict.setting)), *cells)
        for verdict in result.verdicts
        for cells in (_verdict_cells(verdict), *_judgment_cells(verdict))
    )
    note = (
        "Still read is the share of what an attack reads out of unprotected vectors, above chance, that it still reads "
        "behind the veil. An attack that reads nothing out of unprotected vectors is inconclusive, never a pass."
    )
    columns = (*SETTING_COLUMNS, *JUDGMENT_COLUMNS)
    return Table(name="verdicts", title="Verdicts", note=note, columns=columns, rows=rows)


def judgments_table(combined: CombinedVerdict) -> Table:
    """Return what every attack says at one budget, with its seed where there are several."""
    first = 0 if len(combined.verdicts) > 1 else 1
    rows = tuple(cells[first:] for verdict in combined.verdicts for cells in _judgment_cells(verdict))
    title = f"What each attack says at {combined.condition.budget}"
    return Table(name="judgments", title=title, note="", columns=JUDGMENT_COLUMNS[first:], rows=rows)


def control_table(result: AuditResult, summary: Summary) -> Table:
    """Return what every attack reads out of unprotected vectors: whether it can read at all."""
    columns = (
        Column(key="attack", title="Attack", words=True),
        Column(key="says", title="Its failure elsewhere", words=True),
        Column(key="leakage", title="Leakage", interval=True),
        Column(key="chance", title="Chance"),
        Column(key="auc", title="AUC"),
        Column(key="known", title="Known words"),
        Column(key="tokens", title="Tokens"),
    )
    blind = {
        judgment.attack for verdict in result.verdicts for judgment in verdict.judgments if judgment.retained is None
    }
    rows = tuple(
        (
            words(found.name),
            words("proves nothing" if blind & {found.name, found.row.attack} else "means something"),
            share(found.row.leakage),
            share(found.row.chance),
            number(found.row.auc),
            share(found.row.known),
            count(found.row.tokens),
        )
        for found in summary.attacks
        if found.condition.unprotected
    )
    return Table(name="control", title="Positive control", note="", columns=columns, rows=rows)


def _verdict_cells(verdict: Verdict) -> tuple[TableCell, ...]:
    reasons = words("; ".join(verdict.reasons))
    return _seed(verdict), words("all together"), words(verdict.outcome), share(None), reasons


def _judgment_cells(verdict: Verdict) -> list[tuple[TableCell, ...]]:
    return [
        (_seed(verdict), words(one.attack), words(one.outcome), share(one.retained), words(one.reason))
        for one in verdict.judgments
    ]


def _seed(verdict: Verdict) -> TableCell:
    return TableCell(text=str(verdict.setting.seed), value=verdict.setting.seed)
