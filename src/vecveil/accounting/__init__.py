"""Promises of mechanisms, and exact privacy profiles."""

from vecveil.accounting.budget_readings import BudgetReadings, paper_noise_ratio
from vecveil.accounting.gaussian import GaussianLoss
from vecveil.accounting.guarantee import EuclideanBounds, Guarantee
from vecveil.accounting.pair_promise import MeasuredGuess, PairPromise, WordPromise
from vecveil.accounting.profile import PrivacyProfile, additive_profile, angular_profile
from vecveil.accounting.sheet import GuaranteeSheet

__all__ = [
    "BudgetReadings",
    "EuclideanBounds",
    "GaussianLoss",
    "Guarantee",
    "GuaranteeSheet",
    "MeasuredGuess",
    "PairPromise",
    "PrivacyProfile",
    "WordPromise",
    "additive_profile",
    "angular_profile",
    "paper_noise_ratio",
]
