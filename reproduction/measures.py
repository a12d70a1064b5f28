"""Measures that are kept of an attack and of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vecveil.audit.rows import AttackRow


@dataclass(frozen=True, kw_only=True)
class Attacked:
    """What an attack read, in shares.

    Attributes:
        leakage: The paper's Leakage.
        chance: The same by guessing.
        confidence: The paper's Confidence.
        categories: Leakage by category of the concept.
        tokens: Sensitive tokens of each category that it was tested on.
    """

    leakage: float
    chance: float
    confidence: float
    categories: Mapping[str, float]
    tokens: Mapping[str, int]

    @classmethod
    def from_row(cls, row: AttackRow) -> Attacked:
        """Return what is kept of a row."""
        return cls(
            leakage=row.leakage.value,
            chance=row.chance,
            confidence=row.confidence.value,
            categories={label: one.leakage.value for label, one in row.categories.items()},
            tokens={label: one.tokens for label, one in row.categories.items()},
        )


@dataclass(frozen=True, kw_only=True)
class Useful:
    """What a task gave, in its own unit."""

    score: float
