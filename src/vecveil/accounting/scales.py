"""The axis that the paper's tables are on."""

from __future__ import annotations

from vecveil.core.checks import positive

SCALES = ("literal", "paper")

PAPER_NOISE_RATIO = 15.0
"""Noise-to-signal ratio at epsilon 1 on the paper's axis.

Calibrated, not derived: read literally, the paper's noise at epsilon 10 and 768 dimensions is 77 times longer than
the embedding, and nothing survives that. Its STS12 utilities are matched by noise of about 15/epsilon times the
length of the embedding.
"""


def paper_noise_ratio(epsilon: float) -> float:
    """Return the noise-to-signal ratio that `epsilon` stands for on the axis of the paper's tables."""
    return PAPER_NOISE_RATIO / positive(epsilon, "epsilon")
