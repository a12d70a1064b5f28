"""One thing that was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing that was measured.

    Attributes:
        what: Its name.
        value: How much of `unit` it took.
        unit: Of the value.
        than: What it is compared with; nothing where empty.
        ratio: Its value over that of the other, or the other way round where `faster`.
        faster: Whether the ratio says how many times as fast it is, and not as slow.
        wanted: What the ratio, or the value where there is none, must reach; None where nothing is asked.
        at_least: Whether that is the least, and not the most.
    """

    what: str
    value: float
    unit: str
    than: str = ""
    ratio: float | None = None
    faster: bool = False
    wanted: float | None = None
    at_least: bool = False

    @property
    def reached(self) -> bool | None:
        """Whether what is wanted is reached; None where nothing is."""
        if self.wanted is None:
            return None
        found = self.value if self.ratio is None else self.ratio
        return found >= self.wanted if self.at_least else found <= self.wanted

    @classmethod
    def times_slower(
        cls, what: str, value: float, unit: str, than: str, other: float, *, most: float | None = None
    ) -> Self:
        """Return how many times as long it takes as something else."""
        return cls(what=what, value=value, unit=unit, than=than, ratio=value / other, wanted=most)

    @classmethod
    def times_faster(
        cls, what: str, value: float, unit: str, than: str, other: float, *, least: float | None = None
    ) -> Self:
        """Return how many times as fast it is as something else."""
        ratio = other / value
        return cls(what=what, value=value, unit=unit, than=than, ratio=ratio, faster=True, wanted=least, at_least=True)
