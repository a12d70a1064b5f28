"""Summaries of utility tasks, and the paper's trade-off rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vecveil.audit.metrics import tradeoff_rate
from vecveil.audit.rows import Estimate, TaskRow
from vecveil.reports.conditions import Condition
from vecveil.reports.means import mean, mean_and_range
from vecveil.reports.names import task_names


@dataclass(frozen=True, kw_only=True)
class TaskSummary:
    """One utility task on one condition.

    Attributes:
        condition: The defense and its budget.
        name: The task, with the side that was protected where the audit ran it with several.
        protected: Which side was protected.
        main: Name of the score that stands for the task.
        score: That score: its mean over seeds, between the smallest and the largest.
        kept: The score as a share of the unprotected one; None where that is missing or not above zero.
        scores: Every score by name, as means over seeds.
        cases: Number of queries, pairs or records behind the scores.
        reach: Half of the 95 % interval of the score over these, the mean over seeds; None where it is not known.
        seeds: Number of rows behind the means.
    """

    condition: Condition
    name: str
    protected: str
    main: str
    score: Estimate
    kept: Estimate | None
    scores: Mapping[str, float]
    cases: int
    reach: float | None
    seeds: int


def task_summaries(rows: Iterable[TaskRow], conditions: tuple[Condition, ...]) -> tuple[TaskSummary, ...]:
    """Return every task on every condition, task by task in the order of `rows`."""
    groups: dict[tuple[str, Condition], list[TaskRow]] = {}
    names = _names(rows := tuple(rows))
    for row in rows:
        groups.setdefault((names[row.task, row.protected], Condition.from_setting(row.setting)), []).append(row)
    controls = {name: _main(group) for (name, condition), group in groups.items() if condition.unprotected}
    order = list(dict.fromkeys(names.values()))
    keys = sorted(groups, key=lambda key: (order.index(key[0]), conditions.index(key[1])))
    return tuple(_summary(name, condition, groups[name, condition], controls.get(name)) for name, condition in keys)


def trade_off(leakage: float, control_leakage: float, score: float, control_score: float) -> tuple[float | None, str]:
    """Return the paper's rate R = Δleakage / Δutility, None where it has no meaning, and the same in words.

    Δleakage is how much less is read than out of unprotected vectors, Δutility how much less the task scores: both as
    differences, not as shares, so that the numbers can be held beside the paper's.
    """
    hidden, lost = control_leakage - leakage, control_score - score
    rate = tradeoff_rate(
        leakage=leakage, undefended_leakage=control_leakage, utility=score, undefended_utility=control_score
    )
    if lost > 0 and hidden > 0:
        return rate, f"hides {100 * hidden:.1f} points for {100 * lost:.1f} points of utility"
    if lost > 0:
        return rate, f"costs {100 * lost:.1f} points of utility and hides nothing"
    if hidden > 0:
        return None, f"hides {100 * hidden:.1f} points at no loss of utility"
    return None, "hides nothing and costs nothing"


def _names(rows: tuple[TaskRow, ...]) -> dict[tuple[str, str], str]:
    names = task_names(row.task for row in rows)
    sides: dict[str, set[str]] = {}
    for row in rows:
        sides.setdefault(row.task, set()).add(row.protected)
    return {
        (row.task, row.protected): names[row.task]
        if len(sides[row.task]) == 1
        else f"{names[row.task]}, {row.protected} protected"
        for row in rows
    }


def _main(rows: list[TaskRow]) -> Estimate:
    return mean_and_range([row.scores[row.main] for row in rows])


def _summary(name: str, condition: Condition, rows: list[TaskRow], control: Estimate | None) -> TaskSummary:
    first, score = rows[0], _main(rows)
    kept = None
    if control is not None and control.value > 0:
        kept = Estimate(
            value=score.value / control.value, low=score.low / control.value, high=score.high / control.value
        )
    return TaskSummary(
        condition=condition,
        name=name,
        protected=first.protected,
        main=first.main,
        score=score,
        kept=kept,
        scores={key: mean([row.scores[key] for row in rows if key in row.scores]) for key in first.scores},
        cases=first.cases,
        reach=mean([row.estimate.high - row.estimate.value for row in rows]) if first.error is not None else None,
        seeds=len(rows),
    )
