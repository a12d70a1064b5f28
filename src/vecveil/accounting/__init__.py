"""Promises: what a mechanism guarantees, in which distance, and how that reads in other units."""

from vecveil.accounting.dials import Dials
from vecveil.accounting.euclidean import EuclideanBounds
from vecveil.accounting.guarantee import Guarantee
from vecveil.accounting.pair_promise import PairPromise
from vecveil.accounting.profile import PrivacyProfile, additive_profile, angular_profile
from vecveil.accounting.scales import SCALES, paper_noise_ratio
from vecveil.accounting.sheet import GuaranteeSheet

__all__ = [
    "SCALES",
    "Dials",
    "EuclideanBounds",
    "Guarantee",
    "GuaranteeSheet",
    "PairPromise",
    "PrivacyProfile",
    "additive_profile",
    "angular_profile",
    "paper_noise_ratio",
]
