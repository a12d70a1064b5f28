"""The tables and figures of the paper, each a command."""

from reproduction.effort import FULL, QUICK, Effort
from reproduction.experiment import PaperExperiment
from reproduction.lab import Lab
from reproduction.priors import check_priors
from reproduction.registry import EXPERIMENTS
from reproduction.result import PaperResult, Row

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "Effort", "Lab", "PaperExperiment", "PaperResult", "Row", "check_priors"]
