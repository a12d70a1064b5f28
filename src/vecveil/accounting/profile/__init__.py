"""The exact privacy profile of a pair of inputs, from the law of the privacy loss at their distance."""

from vecveil.accounting.profile.additive import additive_profile
from vecveil.accounting.profile.angular import angular_profile
from vecveil.accounting.profile.curve import PrivacyProfile

__all__ = ["PrivacyProfile", "additive_profile", "angular_profile"]
