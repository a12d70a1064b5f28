"""How long things take on this machine, beside references that are measured in the same run."""

from vecveil.bench.effort import FULL, QUICK, Effort
from vecveil.bench.groups import GROUPS, Result, measured
from vecveil.bench.page import write_page

__all__ = ["FULL", "GROUPS", "QUICK", "Effort", "Result", "measured", "write_page"]
