"""Means over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vecveil.audit.rows import AttackRow, CategoryLeakage, Estimate, ProbeRow


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


def mean_present(estimates: Iterable[Estimate | None]) -> Estimate | None:
    """Return the mean over the seeds that have a value, None where no one has."""
    present = [estimate for estimate in estimates if estimate is not None]
    return mean_estimate(present) if present else None


def mean_and_range(values: Sequence[float]) -> Estimate:
    """Return the mean over seeds, between the smallest and the largest of them."""
    return Estimate(value=mean(values), low=min(values), high=max(values))


def mean_attack(rows: Sequence[AttackRow]) -> AttackRow:
    """Return the row of means; what all seeds have in common stays."""
    return replace(
        rows[0],
        texts=round(mean([row.texts for row in rows])),
        tokens=round(mean([row.tokens for row in rows])),
        leakage=mean_estimate([row.leakage for row in rows]),
        chance=mean([row.chance for row in rows]),
        known=mean([row.known for row in rows]),
        confidence=mean_estimate([row.confidence for row in rows]),
        precision=mean_present(row.precision for row in rows),
        r_precision=mean_estimate([row.r_precision for row in rows]),
        r_chance=mean([row.r_chance for row in rows]),
        top_one=mean_estimate([row.top_one for row in rows]),
        auc=mean([row.auc for row in rows]),
        similarity=mean_present(row.similarity for row in rows),
        categories=_mean_categories(rows),
        seconds=mean([row.seconds for row in rows]),
    )


def mean_probe(rows: Sequence[ProbeRow]) -> ProbeRow:
    """Return the row of means; what all seeds have in common stays."""
    return replace(
        rows[0],
        auc=mean_estimate([row.auc for row in rows]),
        accuracy=mean([row.accuracy for row in rows]),
        tested=round(mean([row.tested for row in rows])),
        seconds=mean([row.seconds for row in rows]),
    )


def _mean_categories(rows: Sequence[AttackRow]) -> dict[str, CategoryLeakage]:
    found: dict[str, list[CategoryLeakage]] = {}
    for row in rows:
        for category, leakage in row.categories.items():
            found.setdefault(category, []).append(leakage)
    return {
        category: CategoryLeakage(
            tokens=round(mean([leakage.tokens for leakage in leakages])),
            leakage=mean_estimate([leakage.leakage for leakage in leakages]),
            confidence=mean_estimate([leakage.confidence for leakage in leakages]),
        )
        for category, leakages in found.items()
    }
