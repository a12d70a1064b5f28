"""Shares as percentages for people."""

from __future__ import annotations


def percent(share: float, digits: int = 0) -> str:
    """Return `share` as a percentage with that many digits after the point: 0.837 is "84 %"."""
    return f"{100 * share:.{digits}f} %"
