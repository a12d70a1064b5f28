"""Defense and budget of a row, and the table of budgets."""

from __future__ import annotations

from vecveil.reports.conditions import Condition
from vecveil.reports.summary import Summary
from vecveil.reports.table import NOTHING, Column, Table, TableCell, significant, words

SETTING_COLUMNS = (
    Column(key="defense", title="Defense", words=True),
    Column(key="budget", title="Budget", words=True),
    Column(key="noise_ratio", title="Noise ratio"),
)

GLANCE_COLUMNS = SETTING_COLUMNS[:2]


def setting_cells(condition: Condition) -> tuple[TableCell, ...]:
    """Return the cells of `SETTING_COLUMNS`."""
    return (
        words(condition.name),
        words(condition.budget),
        significant(condition.readings.noise_ratio if condition.readings else None),
    )


def glance_cells(condition: Condition) -> tuple[TableCell, ...]:
    """Return the cells of `GLANCE_COLUMNS`: the budget is sorted by its noise, and no column is needed for that."""
    noise = None if condition.readings is None else condition.readings.noise_ratio
    return words(condition.name), TableCell(text=condition.budget or NOTHING, value=noise)


def budgets_table(summary: Summary) -> Table:
    """Return what each budget means: the literal loss, the noise that it makes, and a typical pair."""
    columns = (
        *SETTING_COLUMNS,
        Column(key="epsilon", title="ε (nats per unit)"),
        Column(key="distance", title="Distance", words=True),
        Column(key="pair_loss", title="Median pair, at most (nats)"),
    )
    rows = tuple(
        (
            *setting_cells(condition),
            significant(condition.readings.epsilon),
            words(condition.readings.distance),
            significant(condition.readings.pair_loss),
        )
        for condition in summary.conditions
        if condition.readings is not None
    )
    note = (
        "One budget, three readings: the noise ratio is the length of the noise over that of an embedding; ε is the "
        "privacy loss per unit of the distance; the last column is the worst-case loss of the median pair of a text "
        "with the concept and the same text without it, and above 10 nats it promises nothing by itself."
    )
    return Table(name="budgets", title="Budgets on their three readings", note=note, columns=columns, rows=rows)
