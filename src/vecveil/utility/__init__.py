"""Utility: what is left of the search after protection."""

from vecveil.utility.neighbours import NeighboursKept

__all__ = ["NeighboursKept"]
