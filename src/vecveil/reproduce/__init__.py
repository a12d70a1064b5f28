"""The tables and figures of the paper, each a command."""

from vecveil.reproduce.effort import FULL, QUICK, Effort
from vecveil.reproduce.experiment import Experiment
from vecveil.reproduce.finding import Finding, Row
from vecveil.reproduce.lab import Lab
from vecveil.reproduce.priors import checked_priors
from vecveil.reproduce.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "Effort", "Experiment", "Finding", "Lab", "Row", "checked_priors"]
