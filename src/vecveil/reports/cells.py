"""Entries of tables: a text for people, and the value behind it for machines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from vecveil.audit.estimate import Estimate

NOTHING = "–"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One entry of a table.

    Attributes:
        text: For people.
        value: For machines; None where there is none.
        low: Lower end of the interval, where there is one.
        high: Upper end of it.
        interval: The interval for people; empty where there is none.
    """

    text: str
    value: str | float | None = None
    low: float | None = None
    high: float | None = None
    interval: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.interval}".rstrip()


def words(text: str) -> Cell:
    """Return a cell of words."""
    return Cell(text=text or NOTHING, value=text)


def count(value: int) -> Cell:
    """Return a cell with a number of things."""
    return Cell(text=f"{value:,}", value=value)


def number(value: float | Estimate | None) -> Cell:
    """Return a cell with a score as it is."""
    return _cell(value, lambda part: f"{part:.3f}")


def share(value: float | Estimate | None) -> Cell:
    """Return a cell with a share, as a percentage for people."""
    return _cell(value, lambda part: f"{100 * part:.1f}", unit="%")


def significant(value: float | None) -> Cell:
    """Return a cell with a number of any size."""
    return _cell(value, lambda part: f"{part:,.0f}" if abs(part) >= 100 else f"{part:.3g}")


def _cell(value: float | Estimate | None, shown: Callable[[float], str], *, unit: str = "") -> Cell:
    middle = value.value if isinstance(value, Estimate) else value
    if middle is None or not math.isfinite(middle):
        return Cell(text=NOTHING)
    if not isinstance(value, Estimate):
        return Cell(text=shown(middle) + unit, value=middle)
    # One seed of a task has no spread, and an interval without one only makes a table harder to read.
    interval = f"[{shown(value.low)}, {shown(value.high)}]" if value.low < value.high else ""
    return Cell(text=shown(middle) + unit, value=middle, low=value.low, high=value.high, interval=interval)
