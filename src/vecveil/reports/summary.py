"""Results of an audit as means over seeds, in reading order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from vecveil.audit.result import AuditResult
from vecveil.audit.rows import AttackRow, BlankRow, ProbeRow, TaskRow, Verdict
from vecveil.reports.conditions import Condition, sort_conditions
from vecveil.reports.means import find_extremes, mean_row
from vecveil.reports.names import attack_names
from vecveil.reports.utility import TaskSummary, task_summaries

Row = TypeVar("Row", AttackRow, ProbeRow, BlankRow)


@dataclass(frozen=True, kw_only=True)
class RowSummary(Generic[Row]):
    """One attack or probe on one condition: a row whose numbers are means, and over how many seeds.

    Attributes:
        condition: The defense and its budget.
        name: The attack or probe, as people read it.
        seeds: Number of rows behind the means.
        row: The means.
        apart: The least and the most that any seed reads; None of one seed.
    """

    condition: Condition
    name: str
    seeds: int
    row: Row
    apart: tuple[float, float] | None = None


AttackSummary = RowSummary[AttackRow]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What tables and page are made of."""

    conditions: tuple[Condition, ...]
    attacks: tuple[AttackSummary, ...]
    probes: tuple[RowSummary[ProbeRow], ...]
    blanks: tuple[RowSummary[BlankRow], ...]
    tasks: tuple[TaskSummary, ...]

    @classmethod
    def from_result(cls, result: AuditResult) -> Summary:
        """Return the summary of `result`."""
        found: tuple[AttackRow | ProbeRow | BlankRow | TaskRow | Verdict, ...] = (
            *result.attacks,
            *result.probes,
            *result.blanks,
            *result.tasks,
            *result.verdicts,
        )
        conditions = sort_conditions(Condition.from_setting(row.setting) for row in found)
        names = attack_names(result.attacks)
        attacks = _group(result.attacks, conditions, lambda row: names[row.attack])
        probes = _group(result.probes, conditions, lambda row: row.probe)
        blanks = _group(result.blanks, conditions, lambda _: "fill in the blank")
        return cls(
            conditions=conditions,
            attacks=_summarize(attacks, lambda row: row.r_precision.value),
            probes=_summarize(probes, lambda row: row.auc.value),
            blanks=_summarize(blanks, lambda row: row.right.value),
            tasks=task_summaries(result.tasks, conditions),
        )

    @cached_property
    def attack_names(self) -> tuple[str, ...]:
        """Every attack once."""
        return tuple(dict.fromkeys(summary.name for summary in self.attacks))

    @cached_property
    def task_names(self) -> tuple[str, ...]:
        """Every utility task once."""
        return tuple(dict.fromkeys(summary.name for summary in self.tasks))

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Every category of the concept once, sorted."""
        return tuple(sorted({category for summary in self.attacks for category in summary.row.categories}))

    def attacks_on(self, condition: Condition) -> tuple[AttackSummary, ...]:
        """Return what every attack did to `condition`."""
        return tuple(summary for summary in self.attacks if summary.condition == condition)

    def attack(self, condition: Condition, name: str) -> AttackSummary | None:
        """Return what the attack called `name` did to `condition`."""
        return next((summary for summary in self.attacks_on(condition) if summary.name == name), None)

    def task(self, condition: Condition, name: str) -> TaskSummary | None:
        """Return what the task called `name` is worth on `condition`."""
        return next((task for task in self.tasks if task.condition == condition and task.name == name), None)


def _summarize(
    groups: dict[tuple[Condition, str], list[Row]], read: Callable[[Row], float]
) -> tuple[RowSummary[Row], ...]:
    return tuple(
        RowSummary(
            condition=place, name=name, seeds=len(rows), row=mean_row(rows), apart=find_extremes(map(read, rows))
        )
        for (place, name), rows in groups.items()
    )


def _group(
    rows: Iterable[Row], conditions: tuple[Condition, ...], name: Callable[[Row], str]
) -> dict[tuple[Condition, str], list[Row]]:
    groups: dict[tuple[Condition, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((Condition.from_setting(row.setting), name(row)), []).append(row)
    names = list(dict.fromkeys(key[1] for key in groups))
    return dict(sorted(groups.items(), key=lambda group: (names.index(group[0][1]), conditions.index(group[0][0]))))
