"""Tables of utility tasks and trade-off rates."""

from __future__ import annotations

from vecveil.reports.budget_table import SETTING_COLUMNS, setting_cells
from vecveil.reports.conditions import Condition
from vecveil.reports.summary import AttackSummary, Summary
from vecveil.reports.table import Column, Table, TableCell, count, number, share, significant, words
from vecveil.reports.utility import TaskSummary, trade_off


def tasks_table(summary: Summary) -> Table:
    """Return the score of every task on every condition, and its share of the unprotected one."""
    columns = (
        Column(key="task", title="Task", words=True),
        *SETTING_COLUMNS,
        Column(key="protected", title="Protected", words=True),
        Column(key="measure", title="Measure", words=True),
        Column(key="score", title="Score", interval=True),
        Column(key="reach", title="± over texts"),
        Column(key="kept", title="Kept", interval=True),
        Column(key="cases", title="Cases"),
        Column(key="seeds", title="Seeds"),
    )
    rows = tuple(
        (
            words(found.name),
            *setting_cells(found.condition),
            words(found.protected),
            words(found.main),
            number(found.score),
            number(found.reach),
            share(found.kept),
            count(found.cases),
            count(found.seeds),
        )
        for found in summary.tasks
    )
    note = (
        "Larger is better. ± over texts is half of the 95 % interval over queries or records. Kept is the share of the "
        "unprotected score. With several seeds, brackets hold the smallest and the largest of them."
    )
    return Table(name="tasks", title="Utility tasks", note=note, columns=columns, rows=rows)


def scores_table(summary: Summary) -> Table:
    """Return every score of every task, for those that have more than their main one."""
    columns = (
        Column(key="task", title="Task", words=True),
        *SETTING_COLUMNS,
        Column(key="measure", title="Measure", words=True),
        Column(key="score", title="Score"),
        Column(key="seeds", title="Seeds"),
    )
    rows = tuple(
        (words(found.name), *setting_cells(found.condition), words(name), number(score), count(found.seeds))
        for found in summary.tasks
        for name, score in found.scores.items()
    )
    note = "Every score that a task gives, not only the one that stands for it. Larger is better."
    return Table(name="scores", title="All scores of the tasks", note=note, columns=columns, rows=rows)


def trade_offs_table(summary: Summary) -> Table:
    """Return the paper's trade-off rate R of every defense, for each attack against each task."""
    columns = (
        Column(key="attack", title="Attack", words=True),
        Column(key="task", title="Task", words=True),
        *SETTING_COLUMNS,
        Column(key="leakage_drop", title="Δ leakage"),
        Column(key="utility_drop", title="Δ utility"),
        Column(key="rate", title="R"),
        Column(key="words", title="In words", words=True),
    )
    control = next((condition for condition in summary.conditions if condition.unprotected), None)
    rows = []
    if control is not None:
        for name in summary.attack_names:
            for task in summary.task_names:
                ends = summary.attack(control, name), summary.task(control, task)
                rows += [
                    _trade_off_cells(summary, condition, *ends)
                    for condition in summary.conditions
                    if condition != control
                ]
    note = (
        "R = Δleakage / Δutility, as in the paper: how many points of leakage go for one point of a task's score, both "
        "against unprotected vectors. Larger is better; where no utility is lost R has no meaning, and words say so. A "
        "loss of utility near zero makes R large and uncertain."
    )
    present = tuple(row for row in rows if row)
    return Table(name="trade-offs", title="Trade-off rate R", note=note, columns=columns, rows=present)


def _trade_off_cells(
    summary: Summary, condition: Condition, attack: AttackSummary | None, task: TaskSummary | None
) -> tuple[TableCell, ...]:
    if attack is None or task is None:
        return ()
    here, score = summary.attack(condition, attack.name), summary.task(condition, task.name)
    if here is None or score is None:
        return ()
    leakages = here.row.leakage.value, attack.row.leakage.value
    rate, explained = trade_off(*leakages, score.score.value, task.score.value)
    return (
        words(attack.name),
        words(task.name),
        *setting_cells(condition),
        number(leakages[1] - leakages[0]),
        number(task.score.value - score.score.value),
        significant(rate),
        words(explained),
    )
