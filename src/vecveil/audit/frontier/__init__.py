"""The frontier: the least leakage at a given utility."""

from vecveil.audit.frontier.frontier import CONTENDERS, LEVELS, Frontier, FrontierPlan, prepare_frontier
from vecveil.audit.frontier.results import Choice, FrontierPoint, FrontierResult, FrontierRow
from vecveil.audit.frontier.workbench import Workbench

__all__ = [
    "CONTENDERS",
    "LEVELS",
    "Choice",
    "Frontier",
    "FrontierPlan",
    "FrontierPoint",
    "FrontierResult",
    "FrontierRow",
    "Workbench",
    "prepare_frontier",
]
