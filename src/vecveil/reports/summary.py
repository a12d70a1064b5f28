"""An audit with its seeds brought together, in the order in which people read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from vecveil.audit.results import AttackRow, AuditResult, ProbeRow, TaskRow, Verdict
from vecveil.reports.means import mean_attack, mean_probe
from vecveil.reports.names import attack_names
from vecveil.reports.points import Point, ordered
from vecveil.reports.utility import TaskSummary, task_summaries

Row = TypeVar("Row", AttackRow, ProbeRow)


@dataclass(frozen=True, kw_only=True)
class AttackSummary:
    """One attack on one point: a row whose numbers are means, and over how many seeds.

    Attributes:
        point: The defence and its budget.
        name: The attack, as people read it.
        seeds: Number of rows behind the means.
        row: The means.
    """

    point: Point
    name: str
    seeds: int
    row: AttackRow


@dataclass(frozen=True, kw_only=True)
class ProbeSummary:
    """One probe on one point: a row whose numbers are means, and over how many seeds."""

    point: Point
    name: str
    seeds: int
    row: ProbeRow


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What tables and page are made of."""

    points: tuple[Point, ...]
    attacks: tuple[AttackSummary, ...]
    probes: tuple[ProbeSummary, ...]
    tasks: tuple[TaskSummary, ...]

    @classmethod
    def of(cls, result: AuditResult) -> Summary:
        """Return the summary of `result`."""
        found: tuple[AttackRow | ProbeRow | TaskRow | Verdict, ...] = (
            *result.attacks,
            *result.probes,
            *result.tasks,
            *result.verdicts,
        )
        points = ordered(Point.of(row.setting) for row in found)
        names = attack_names(result.attacks)
        attacks = [
            AttackSummary(point=point, name=name, seeds=len(rows), row=mean_attack(rows))
            for (point, name), rows in _grouped(result.attacks, points, lambda row: names[row.attack]).items()
        ]
        probes = [
            ProbeSummary(point=point, name=name, seeds=len(rows), row=mean_probe(rows))
            for (point, name), rows in _grouped(result.probes, points, lambda row: row.probe).items()
        ]
        return cls(
            points=points,
            attacks=tuple(attacks),
            probes=tuple(probes),
            tasks=task_summaries(result.tasks, points),
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

    def attacks_on(self, point: Point) -> tuple[AttackSummary, ...]:
        """Return what every attack did to `point`."""
        return tuple(summary for summary in self.attacks if summary.point == point)

    def attack(self, point: Point, name: str) -> AttackSummary | None:
        """Return what the attack called `name` did to `point`."""
        return next((summary for summary in self.attacks_on(point) if summary.name == name), None)

    def task(self, point: Point, name: str) -> TaskSummary | None:
        """Return what the task called `name` is worth on `point`."""
        return next((task for task in self.tasks if task.point == point and task.name == name), None)


def _grouped(
    rows: Iterable[Row], points: tuple[Point, ...], name: Callable[[Row], str]
) -> dict[tuple[Point, str], list[Row]]:
    groups: dict[tuple[Point, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((Point.of(row.setting), name(row)), []).append(row)
    names = list(dict.fromkeys(key[1] for key in groups))
    return dict(sorted(groups.items(), key=lambda group: (names.index(group[0][1]), points.index(group[0][0]))))
