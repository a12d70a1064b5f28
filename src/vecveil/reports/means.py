"""Means over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from vecveil.audit.rows import AttackRow, BlankRow, CategoryLeakage, Estimate, ProbeRow

Row = TypeVar("Row", AttackRow, BlankRow, CategoryLeakage, ProbeRow)


def mean(values: Sequence[float]) -> float:
    """Return the mean over seeds."""
    return math.fsum(values) / len(values)


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean over seeds, with the mean of their intervals over texts; how far seeds differ is told apart."""
    return Estimate(
        value=mean([estimate.value for estimate in estimates]),
        low=mean([estimate.low for estimate in estimates]),
        high=mean([estimate.high for estimate in estimates]),
    )


def mean_and_range(values: Sequence[float]) -> Estimate:
    """Return the mean over seeds, between the smallest and the largest of them."""
    return Estimate(value=mean(values), low=min(values), high=max(values))


def find_extremes(values: Iterable[float]) -> tuple[float, float] | None:
    """Return the smallest and the largest of several values, None of one."""
    found = list(values)
    return (min(found), max(found)) if len(found) > 1 else None


def mean_row(rows: Sequence[Row]) -> Row:
    """Return the row of means; what is no number stays as it is in the first."""
    names = [field.name for field in fields(rows[0])]
    return replace(rows[0], **{name: _mean_of([getattr(row, name) for row in rows]) for name in names})


def _mean_of(values: Sequence[Any]) -> Any:
    present = [value for value in values if value is not None]
    match present[0] if present else None:
        case Estimate():
            return mean_estimate(present)
        case int():
            return round(mean(present))
        case float():
            return mean(present)
        case Mapping():
            # Rows by category; a category need not be there with every seed.
            known = dict.fromkeys(key for value in present for key in value)
            return {key: mean_row([value[key] for value in present if key in value]) for key in known}
        case _:
            return values[0]
