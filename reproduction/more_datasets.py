"""The paper's main table on four more data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reproduction.lab import Lab
from reproduction.result import PaperResult
from reproduction.trade_off import trade_off


@dataclass(frozen=True, kw_only=True)
class MoreDatasets:
    """The same on four more data sets."""

    name: ClassVar[str] = "more-datasets"
    title: ClassVar[str] = "The same on STS-B, STS14, Quora and NFCorpus"
    where: ClassVar[str] = "Appendix, performance on more data sets"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table."""
        return trade_off(lab, self.name, self.title, ("stsb", "sts14", "quora", "nfcorpus"))
