"""Mechanisms: each perturbs vectors and states what that guarantees."""

from vecveil.mechanisms.mechanism import Mechanism
from vecveil.mechanisms.registry import MECHANISMS

__all__ = ["MECHANISMS", "Mechanism"]
