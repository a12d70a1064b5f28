"""The frontier: which defence leaks least at a given utility, and the veil that a target asks for."""

from vecveil.audit.frontier.calibration import Calibration, calibrate
from vecveil.audit.frontier.plan import CONTENDERS, LEVELS, FrontierPlan
from vecveil.audit.frontier.prepare import prepare_frontier
from vecveil.audit.frontier.results import Choice, FrontierResult, FrontierRow
from vecveil.audit.frontier.run import Frontier
from vecveil.audit.frontier.target import Target, learn_to_target

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
    "calibrate",
    "learn_to_target",
    "prepare_frontier",
]
