"""On which axis an epsilon is read: the literal one, or the one the paper's tables are on."""

from __future__ import annotations

from vecveil.core.checks import at_least, one_of, positive

PAPER_NOISE_RATIO = 15.0
"""Noise-to-signal ratio at epsilon 1 on the paper's axis.

Calibrated, not derived: read literally, the paper's noise at epsilon 10 and 768 dimensions is 77 times longer than
the embedding, and nothing survives that. Its STS12 utilities are matched by noise of about 15/epsilon times the
length of the embedding.
"""

SCALES = ("literal", "paper")


def literal_epsilon(epsilon: float, *, scale: str, dimensions: int, signal: float) -> float:
    """Return the literal epsilon, per unit of distance, that `epsilon` on `scale` stands for.

    Args:
        epsilon: The number as the user gave it.
        scale: "literal", or "paper" for the axis of the paper's tables.
        dimensions: Number of axes that are released.
        signal: Typical length of an embedding.
    """
    positive(epsilon, "epsilon")
    one_of(scale, SCALES, "scale")
    if scale == "literal":
        return float(epsilon)
    # Spherical noise has a mean length of dimensions/epsilon; set it to the calibrated multiple of the signal.
    at_least(dimensions, 1, "dimensions")
    return epsilon * dimensions / (PAPER_NOISE_RATIO * positive(signal, "signal"))
