"""The headline of a report: one sentence and a few numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from vecveil.audit.results import Outcome
from vecveil.reports.combined_verdict import CombinedVerdict
from vecveil.reports.conditions import Condition
from vecveil.reports.summary import AttackSummary, Summary
from vecveil.reports.table import share

OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "inconclusive")


@dataclass(frozen=True, kw_only=True)
class KeyNumber:
    """A number with what it is, and what to hold it against."""

    title: str
    value: str
    note: str


def headline(verdicts: tuple[CombinedVerdict, ...]) -> str:
    """Return all verdicts in one sentence."""
    if not verdicts:
        return "No verdict: no veil was audited"
    counts = Counter(verdict.outcome for verdict in verdicts)
    found = [outcome for outcome in OUTCOMES if counts[outcome]]
    if len(verdicts) == 1:
        return f"{found[0].capitalize()} at the one budget tried"
    if len(found) == 1:
        return f"{found[0].capitalize()} at {'both' if len(verdicts) == 2 else f'all {len(verdicts)}'} budgets tried"
    first, *others = (f"{outcome} at {counts[outcome]}" for outcome in found)
    sentence = f"{first} of {len(verdicts)} budgets, {', '.join(others)}"
    return sentence[0].upper() + sentence[1:]


def choose_verdict(verdicts: tuple[CombinedVerdict, ...]) -> CombinedVerdict | None:
    """Return the verdict to show numbers for: the least noise that passes, or else the most noise."""

    def noise(verdict: CombinedVerdict) -> float:
        return verdict.condition.readings.noise_ratio if verdict.condition.readings else 0.0

    passed = [verdict for verdict in verdicts if verdict.outcome == "pass"]
    return min(passed, key=noise) if passed else max(verdicts, key=noise, default=None)


def key_numbers(condition: Condition, summary: Summary) -> tuple[KeyNumber, ...]:
    """Return the numbers of a budget: the strongest attack, plain noise beside it, and two tasks."""
    strongest = max(summary.attacks_on(condition), key=lambda found: found.row.leakage.value, default=None)
    numbers = [] if strongest is None else _leakage(strongest, summary)
    for name in summary.task_names[:2]:
        task = summary.task(condition, name)
        if task is not None and task.kept is not None:
            note = f"{task.main} {task.score.value:.3f}, {task.protected} protected"
            numbers.append(KeyNumber(title=f"Utility kept, {name}", value=f"{task.kept.value:.0%}", note=note))
    return tuple(numbers)


def _leakage(strongest: AttackSummary, summary: Summary) -> list[KeyNumber]:
    condition, name = strongest.condition, strongest.name
    same = [found for found in summary.attacks if found.name == name and _is_comparable(found, condition)]
    beside = {found.condition.defense: found for found in same}
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


def _is_comparable(found: AttackSummary, condition: Condition) -> bool:
    return found.condition.unprotected or found.condition.budget == condition.budget
