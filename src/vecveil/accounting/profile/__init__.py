"""Exact privacy profiles of a pair of inputs."""

from vecveil.accounting.profile.additive import additive_profile
from vecveil.accounting.profile.angular import angular_profile
from vecveil.accounting.profile.curve import PrivacyProfile

__all__ = ["PrivacyProfile", "additive_profile", "angular_profile"]
