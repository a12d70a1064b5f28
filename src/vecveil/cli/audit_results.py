"""The results of an audit in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from vecveil.audit import AuditResult, Setting

COLOURS = {"pass": "green", "fail": "red", "inconclusive": "yellow"}


def attack_table(result: AuditResult) -> Table:
    """Return one line per defence: the leakage of each attack, the AUC of each probe, the score of each task."""
    from rich import box
    from rich.table import Table

    attacks = list(dict.fromkeys(row.attack for row in result.attacks))
    probes = list(dict.fromkeys(row.probe for row in result.probes))
    tasks = list(dict.fromkeys(row.task for row in result.tasks))
    names = [*attacks, *(f"{probe} probe" for probe in probes), *tasks]
    table = Table("defence", "budget", *names, box=box.SIMPLE_HEAD)
    for column in table.columns[2:]:
        column.justify = "right"
    for setting in _settings(result):
        leaked = {row.attack: f"{row.leakage.value:.0%}" for row in result.attacks if row.setting == setting}
        told = {row.probe: f"{row.auc.value:.3f}" for row in result.probes if row.setting == setting}
        kept = {row.task: f"{row.scores[row.main]:.3f}" for row in result.tasks if row.setting == setting}
        cells = [
            *(leaked.get(name, "") for name in attacks),
            *(told.get(name, "") for name in probes),
            *(kept.get(name, "") for name in tasks),
        ]
        asked = f"{setting.asked}{_seed(result, setting)}".removeprefix(", ")
        table.add_row(setting.label, asked, *cells, end_section=setting.defence == "none")
    return table


def verdict_lines(result: AuditResult) -> Iterator[Text]:
    """Yield each verdict with its reasons."""
    from rich.text import Text

    for verdict in result.verdicts:
        line = Text(f"{verdict.setting.label}, {verdict.setting.asked}{_seed(result, verdict.setting)}: ")
        line.append(verdict.outcome, style=f"bold {COLOURS[verdict.outcome]}")
        yield line
        for reason in verdict.reasons:
            yield Text(f"  {reason}")


def _seed(result: AuditResult, setting: Setting) -> str:
    return f", seed {setting.seed}" if len(result.plan["seeds"]) > 1 else ""


def _settings(result: AuditResult) -> list[Setting]:
    rows = [*(row.setting for row in result.probes), *(row.setting for row in result.tasks)]
    return list(dict.fromkeys([*rows, *(row.setting for row in result.attacks)]))
