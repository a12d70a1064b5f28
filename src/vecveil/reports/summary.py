"""Results of an audit as means over seeds, in reading order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from vecveil.audit.result import AuditResult
from vecveil.audit.rows import AttackRow, ProbeRow, TaskRow, Verdict
from vecveil.reports.conditions import Condition, sort_conditions
from vecveil.reports.means import mean_attack, mean_probe
from vecveil.reports.names import attack_names
from vecveil.reports.utility import TaskSummary, task_summaries

Row = TypeVar("Row", AttackRow, ProbeRow)


@dataclass(frozen=True, kw_only=True)
class AttackSummary:
    """One attack on one condition: a row whose numbers are means, and over how many seeds.

    Attributes:
        condition: The defense and its budget.
        name: The attack, as people read it.
        seeds: Number of rows behind the means.
        row: The means.
        apart: The least and the most that any seed reads; None of one seed.
    """

    condition: Condition
    name: str
    seeds: int
    row: AttackRow
    apart: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class ProbeSummary:
    """One probe on one condition: a row whose numbers are means, and over how many seeds."""

    condition: Condition
    name: str
    seeds: int
    row: ProbeRow


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What tables and page are made of."""

    conditions: tuple[Condition, ...]
    attacks: tuple[AttackSummary, ...]
    probes: tuple[ProbeSummary, ...]
    tasks: tuple[TaskSummary, ...]

    @classmethod
    def from_result(cls, result: AuditResult) -> Summary:
        """Return the summary of `result`."""
        found: tuple[AttackRow | ProbeRow | TaskRow | Verdict, ...] = (
            *result.attacks,
            *result.probes,
            *result.tasks,
            *result.verdicts,
        )
        conditions = sort_conditions(Condition.from_setting(row.setting) for row in found)
        names = attack_names(result.attacks)
        attacks = [
            AttackSummary(
                condition=condition, name=name, seeds=len(rows), row=mean_attack(rows), apart=_find_extremes(rows)
            )
            for (condition, name), rows in _group(result.attacks, conditions, lambda row: names[row.attack]).items()
        ]
        probes = [
            ProbeSummary(condition=condition, name=name, seeds=len(rows), row=mean_probe(rows))
            for (condition, name), rows in _group(result.probes, conditions, lambda row: row.probe).items()
        ]
        return cls(
            conditions=conditions,
            attacks=tuple(attacks),
            probes=tuple(probes),
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


def _find_extremes(rows: list[AttackRow]) -> tuple[float, float] | None:
    read = [row.r_precision.value for row in rows]
    return (min(read), max(read)) if len(read) > 1 else None


def _group(
    rows: Iterable[Row], conditions: tuple[Condition, ...], name: Callable[[Row], str]
) -> dict[tuple[Condition, str], list[Row]]:
    groups: dict[tuple[Condition, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((Condition.from_setting(row.setting), name(row)), []).append(row)
    names = list(dict.fromkeys(key[1] for key in groups))
    return dict(sorted(groups.items(), key=lambda group: (names.index(group[0][1]), conditions.index(group[0][0]))))
