"""Which defence at which budget a row is about, and every budget on its three dials."""

from __future__ import annotations

from vecveil.reports.cells import NOTHING, Cell, significant, words
from vecveil.reports.points import Point
from vecveil.reports.summary import Summary
from vecveil.reports.table import Column, Table

SETTING_COLUMNS = (
    Column(key="defence", title="Defence", words=True),
    Column(key="budget", title="Budget", words=True),
    Column(key="noise_ratio", title="Noise ratio"),
)

GLANCE_COLUMNS = SETTING_COLUMNS[:2]


def setting_cells(point: Point) -> tuple[Cell, ...]:
    """Return the cells of `SETTING_COLUMNS`."""
    return words(point.name), words(point.budget), significant(point.dials.noise_ratio if point.dials else None)


def glance_cells(point: Point) -> tuple[Cell, ...]:
    """Return the cells of `GLANCE_COLUMNS`: the budget is sorted by its noise, and no column is needed for that."""
    noise = None if point.dials is None else point.dials.noise_ratio
    return words(point.name), Cell(text=point.budget or NOTHING, value=noise)


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
            *setting_cells(point),
            significant(point.dials.epsilon),
            words(point.dials.distance),
            significant(point.dials.pair_loss),
        )
        for point in summary.points
        if point.dials is not None
    )
    note = (
        "One budget, three dials: the noise ratio is the length of the noise over that of an embedding; ε is the loss "
        "of privacy per unit of the distance; the last column is the worst-case loss of the median pair of a text with "
        "the concept and the same text without it, and above 10 nats it promises nothing by itself."
    )
    return Table(name="budgets", title="Budgets on their three dials", note=note, columns=columns, rows=rows)
