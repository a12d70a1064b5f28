"""The frontier: the least leakage at a given utility."""

from vecveil.audit.frontier.calibration import Calibration, Target, calibrate, learn_to_target
from vecveil.audit.frontier.frontier import CONTENDERS, LEVELS, Frontier, FrontierPlan, prepare_frontier
from vecveil.audit.frontier.results import Choice, FrontierResult, FrontierRow
from vecveil.audit.frontier.workbench import Workbench

__all__ = [
    "CONTENDERS",
    "LEVELS",
    "Calibration",
    "Choice",
    "Frontier",
    "FrontierPlan",
    "FrontierResult",
    "FrontierRow",
    "Target",
    "Workbench",
    "calibrate",
    "learn_to_target",
    "prepare_frontier",
]
