"""What a reader in a hurry takes away: the verdict in one sentence, and a few numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from vecveil.audit.results import Outcome
from vecveil.reports.cells import share
from vecveil.reports.points import Point
from vecveil.reports.rulings import Ruling
from vecveil.reports.summary import AttackSummary, Summary

OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "inconclusive")


@dataclass(frozen=True, kw_only=True)
class KeyNumber:
    """A number with what it is, and what to hold it against."""

    title: str
    value: str
    note: str


def headline(rulings: tuple[Ruling, ...]) -> str:
    """Return all rulings in one sentence."""
    if not rulings:
        return "No verdict: no veil was audited"
    counts = Counter(ruling.outcome for ruling in rulings)
    found = [outcome for outcome in OUTCOMES if counts[outcome]]
    if len(rulings) == 1:
        return f"{found[0].capitalize()} at the one budget tried"
    if len(found) == 1:
        return f"{found[0].capitalize()} at {'both' if len(rulings) == 2 else f'all {len(rulings)}'} budgets tried"
    first, *others = (f"{outcome} at {counts[outcome]}" for outcome in found)
    sentence = f"{first} of {len(rulings)} budgets, {', '.join(others)}"
    return sentence[0].upper() + sentence[1:]


def chosen_ruling(rulings: tuple[Ruling, ...]) -> Ruling | None:
    """Return the ruling to show numbers for: the least noise that passes, or else the most noise."""

    def noise(ruling: Ruling) -> float:
        return ruling.point.dials.noise_ratio if ruling.point.dials else 0.0

    passed = [ruling for ruling in rulings if ruling.outcome == "pass"]
    return min(passed, key=noise) if passed else max(rulings, key=noise, default=None)


def key_numbers(point: Point, summary: Summary) -> tuple[KeyNumber, ...]:
    """Return the numbers of a budget: the strongest attack, plain noise beside it, and two tasks."""
    strongest = max(summary.attacks_on(point), key=lambda found: found.row.leakage.value, default=None)
    numbers = [] if strongest is None else _leakage(strongest, summary)
    for name in summary.task_names[:2]:
        task = summary.task(point, name)
        if task is not None and task.kept is not None:
            note = f"{task.main} {task.score.value:.3f}, {task.protected} protected"
            numbers.append(KeyNumber(title=f"Utility kept, {name}", value=f"{task.kept.value:.0%}", note=note))
    return tuple(numbers)


def _leakage(strongest: AttackSummary, summary: Summary) -> list[KeyNumber]:
    point, name = strongest.point, strongest.name
    beside = {found.point.defence: found for found in summary.attacks if found.name == name and _beside(found, point)}
    control, plain = beside.get("none"), beside.get("laplace")
    note = f"chance {share(strongest.row.chance)}"
    if control is not None:
        note = f"unprotected {share(control.row.leakage).text}, {note}"
    title = f"Leakage, strongest attack ({name})"
    numbers = [KeyNumber(title=title, value=f"{strongest.row.leakage.value:.0%}", note=note)]
    if plain is not None:
        note = "plain Laplace noise of the same budget"
        numbers.append(KeyNumber(title="The same, without a shape", value=f"{plain.row.leakage.value:.0%}", note=note))
    return numbers


def _beside(found: AttackSummary, point: Point) -> bool:
    return found.point.unprotected or found.point.budget == point.budget
