"""The paper's main table: leakage, confidence and utility over epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reproduction.lab import Lab
from reproduction.result import PaperResult
from reproduction.trade_off import trade_off


@dataclass(frozen=True, kw_only=True)
class MainResults:
    """The paper's main table."""

    name: ClassVar[str] = "main-results"
    title: ClassVar[str] = "Leakage, confidence and utility on STS12 and FiQA"
    where: ClassVar[str] = "Table 1"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table."""
        return trade_off(lab, self.name, self.title, ("sts12", "fiqa"))
