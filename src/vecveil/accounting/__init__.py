"""Promises: what a mechanism guarantees, in which distance, and how that reads in other units."""

from vecveil.accounting.dials import Dials
from vecveil.accounting.euclidean import EuclideanBounds
from vecveil.accounting.guarantee import Guarantee
from vecveil.accounting.scales import SCALES, paper_noise_ratio
from vecveil.accounting.sheet import GuaranteeSheet

__all__ = ["SCALES", "Dials", "EuclideanBounds", "Guarantee", "GuaranteeSheet", "paper_noise_ratio"]
