"""Mechanisms: each perturbs vectors and states what that guarantees."""

from vecveil.mechanisms.mechanism import MECHANISMS, Mechanism

__all__ = ["MECHANISMS", "Mechanism"]
