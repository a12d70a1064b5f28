"""Promises of mechanisms, and exact privacy profiles."""

from vecveil.accounting.budget_readings import BudgetReadings, paper_noise_ratio
from vecveil.accounting.gaussian import GaussianLoss
from vecveil.accounting.guarantee import EuclideanBounds, Guarantee
from vecveil.accounting.pair_promise import PairPromise
from vecveil.accounting.profile import PrivacyProfile, additive_profile, angular_profile
from vecveil.accounting.sheet import GuaranteeSheet
from vecveil.accounting.word_promise import WordPromise

__all__ = [
    "BudgetReadings",
    "EuclideanBounds",
    "GaussianLoss",
    "Guarantee",
    "GuaranteeSheet",
    "PairPromise",
    "PrivacyProfile",
    "WordPromise",
    "additive_profile",
    "angular_profile",
    "paper_noise_ratio",
]
