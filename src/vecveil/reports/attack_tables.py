"""Tables of attacks, categories, probes and filled blanks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from vecveil.audit.metrics import mitigation
from vecveil.reports.budget_table import GLANCE_COLUMNS, SETTING_COLUMNS, glance_cells, setting_cells
from vecveil.reports.summary import AttackSummary, Summary
from vecveil.reports.table import Column, Table, TableCell, count, number, share, significant, words

Measure = Literal["r_precision", "leakage", "confidence"]

TITLES: dict[Measure, str] = {"r_precision": "Words read", "leakage": "Leakage", "confidence": "Confidence"}

SEEDS_NOTE = (
    "Numbers are means over the seeds. Intervals are 95 % bootstrap intervals over texts, averaged over the seeds; how "
    "far the seeds lie apart stands beside them."
)

OVER_SEEDS = Column(key="seeds_apart", title="Over seeds", words=True)


def attacks_table(summary: Summary) -> Table:
    """Return every attack on every condition, with all that was measured."""
    columns = (
        Column(key="attack", title="Attack", words=True),
        *SETTING_COLUMNS,
        Column(key="r_precision", title="Words read", interval=True),
        OVER_SEEDS,
        Column(key="r_chance", title="By guessing"),
        Column(key="leakage", title="Leakage", interval=True),
        Column(key="chance", title="Chance"),
        Column(key="confidence", title="Confidence", interval=True),
        Column(key="precision", title="Precision", interval=True),
        Column(key="top_one", title="Top-1", interval=True),
        Column(key="auc", title="AUC"),
        Column(key="similarity", title="Similarity", interval=True),
        Column(key="tokens", title="Tokens"),
        Column(key="seeds", title="Seeds"),
    )
    rows = tuple(_attack_cells(found) for found in summary.attacks)
    note = f"Smaller is better for the owner of the texts. {SEEDS_NOTE}"
    return Table(name="attacks", title="Attacks", note=note, columns=columns, rows=rows)


def categories_table(summary: Summary) -> Table:
    """Return leakage and confidence of every category of the concept, attack by attack."""
    columns = (
        Column(key="attack", title="Attack", words=True),
        *SETTING_COLUMNS,
        Column(key="category", title="Category", words=True),
        Column(key="tokens", title="Tokens"),
        Column(key="leakage", title="Leakage", interval=True),
        Column(key="mitigation", title="Mitigation"),
        Column(key="confidence", title="Confidence", interval=True),
        Column(key="seeds", title="Seeds"),
    )
    rows = tuple(
        (
            words(found.name),
            *setting_cells(found.condition),
            words(category),
            count(part.tokens),
            share(part.leakage),
            share(_mitigation(summary, found, category)),
            share(part.confidence),
            count(found.seeds),
        )
        for found in summary.attacks
        for category, part in sorted(found.row.categories.items())
    )
    note = f"Mitigation is the relative change of leakage against unprotected vectors. {SEEDS_NOTE}"
    return Table(name="categories", title="Categories", note=note, columns=columns, rows=rows)


def probes_table(summary: Summary) -> Table:
    """Return how well probes tell texts with the concept from the same texts without it."""
    columns = (
        Column(key="probe", title="Probe", words=True),
        *SETTING_COLUMNS,
        Column(key="auc", title="AUC", interval=True),
        OVER_SEEDS,
        Column(key="accuracy", title="Accuracy"),
        Column(key="tested", title="Tested on"),
        Column(key="seeds", title="Seeds"),
    )
    rows = tuple(
        (
            words(found.name),
            *setting_cells(found.condition),
            number(found.row.auc),
            _range(found.apart, number),
            share(found.row.accuracy),
            count(found.row.tested),
            count(found.seeds),
        )
        for found in summary.probes
    )
    note = f"An AUC of 0.5 is blind, 1 sees everything. {SEEDS_NOTE}"
    return Table(name="probes", title="Concept probes", note=note, columns=columns, rows=rows)


def blanks_table(summary: Summary) -> Table:
    """Return how often someone is right who has the text but for one private value."""
    columns = (
        *SETTING_COLUMNS,
        Column(key="right", title="Right", interval=True),
        OVER_SEEDS,
        Column(key="chance", title="By guessing"),
        Column(key="bits", title="Bits read", interval=True),
        Column(key="rank", title="Median rank"),
        Column(key="candidates", title="Candidates"),
        Column(key="texts", title="Texts"),
        Column(key="seeds", title="Seeds"),
    )
    rows = tuple(
        (
            *setting_cells(found.condition),
            share(found.row.right),
            _range(found.apart, share),
            share(found.row.chance),
            number(found.row.bits),
            significant(found.row.rank),
            significant(found.row.candidates),
            count(found.row.texts),
            count(found.seeds),
        )
        for found in summary.blanks
    )
    note = (
        "The guess is the best there is for someone who knows the veil, the text but for one private value, and the "
        f"candidates, each as likely as the other beforehand. {SEEDS_NOTE}"
    )
    return Table(name="blanks", title="Fill in the blank", note=note, columns=columns, rows=rows)


def matrix(summary: Summary, measure: Measure) -> Table:
    """Return one measure at a glance: a row per condition, a column per attack."""
    columns = tuple(Column(key=name, title=name, interval=True) for name in summary.attack_names)
    rows = []
    for condition in summary.conditions:
        if summary.attacks_on(condition):
            found = [summary.attack(condition, name) for name in summary.attack_names]
            cells = [share(None if one is None else getattr(one.row, measure)) for one in found]
            rows.append((*glance_cells(condition), *cells))
    return Table(
        name=f"{measure}-at-a-glance",
        title=f"{TITLES[measure]}, every attack on every defense",
        note=SEEDS_NOTE,
        columns=(*GLANCE_COLUMNS, *columns),
        rows=tuple(rows),
    )


def probes_matrix(summary: Summary) -> Table:
    """Return what every probe sees at a glance: a row per condition, a column per probe."""
    names = tuple(dict.fromkeys(found.name for found in summary.probes))
    found = {(probe.condition, probe.name): probe.row.auc for probe in summary.probes}
    rows = tuple(
        (*glance_cells(condition), *(number(found.get((condition, name))) for name in names))
        for condition in summary.conditions
        if any((condition, name) in found for name in names)
    )
    columns = (*GLANCE_COLUMNS, *(Column(key=name, title=f"{name}, AUC", interval=True) for name in names))
    title = "AUC of every probe on every defense"
    return Table(name="probes-at-a-glance", title=title, note=SEEDS_NOTE, columns=columns, rows=rows)


def _attack_cells(found: AttackSummary) -> tuple[TableCell, ...]:
    row = found.row
    return (
        words(found.name),
        *setting_cells(found.condition),
        share(row.r_precision),
        _range(found.apart, share),
        share(row.r_chance),
        share(row.leakage),
        share(row.chance),
        share(row.confidence),
        share(row.precision),
        share(row.top_one),
        number(row.auc),
        number(row.similarity),
        count(row.tokens),
        count(found.seeds),
    )


def _range(apart: tuple[float, float] | None, cell: Callable[[float], TableCell]) -> TableCell:
    return words("" if apart is None else f"{cell(apart[0])} to {cell(apart[1])}")


def _mitigation(summary: Summary, found: AttackSummary, category: str) -> float | None:
    """Return the paper's leakage mitigation of one category; None for the control, and where that leaks nothing."""
    control = next((one for one in summary.attacks if one.condition.unprotected and one.name == found.name), None)
    before = None if control is None else control.row.categories.get(category)
    if before is None or found.condition.unprotected or before.leakage.value <= 0:
        return None
    return mitigation(leakage=found.row.categories[category].leakage.value, undefended=before.leakage.value)
