"""The paper's own figures, as printed, one CSV file for each experiment."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FIXED = ("metric", "value", "deviation")
"""The last columns of every file; those before them say which figure it is."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One printed figure.

    Attributes:
        value: As printed, percentages as percentages.
        deviation: The printed standard deviation; None where there is none.
    """

    value: float
    deviation: float | None


@dataclass(frozen=True, kw_only=True)
class Published:
    """The printed figures of one experiment.

    Attributes:
        axes: What a figure belongs to, such as dataset, epsilon and defense.
        figures: By the values of the axes, in their order, and the metric.
    """

    axes: tuple[str, ...]
    figures: Mapping[tuple[str, ...], Figure]

    def value(self, keys: Mapping[str, str], metric: str) -> float | None:
        """Return the figure that belongs to `keys`; None where the paper has none."""
        found = self.figures.get((*(keys.get(axis, "") for axis in self.axes), metric))
        return None if found is None else found.value


@cache
def read_published(experiment: str) -> Published:
    """Return the figures that the paper prints for an experiment; none where it prints none."""
    place = files(__package__) / "published" / f"{experiment}.csv"
    if not place.is_file():
        return Published(axes=(), figures={})
    rows = list(csv.DictReader(place.read_text(encoding="utf-8").splitlines()))
    axes = tuple(name for name in rows[0] if name not in FIXED)
    return Published(
        axes=axes,
        figures={
            (*(row[axis] for axis in axes), row["metric"]): Figure(
                value=float(row["value"]), deviation=float(row["deviation"]) if row["deviation"] else None
            )
            for row in rows
        },
    )
