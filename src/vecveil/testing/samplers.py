"""Samplers against their densities, by p-values."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from vecveil.core.arrays import Matrix, Vector

Perturb: TypeAlias = Callable[[Matrix], Matrix]
"""Returns a noisy copy of vectors."""


def elliptical_pvalues(
    perturb: Perturb, *, epsilon: float, variances: Vector, axes: Matrix | None = None, rows: int = 4000
) -> dict[str, float]:
    """Test noise that should have density proportional to exp(-epsilon * ||z||_M) on the released axes.

    A p-value is small where the sampler draws from another law. In whitened coordinates the law is: a Gamma(m,
    1/epsilon) radius, a direction whose projection on any fixed one has a symmetric Beta law and whose largest
    coordinate is as large as it should be, radius and direction independent, axes uncorrelated, the stated variance
    along each axis, and rows that know nothing of one another.
    """
    from scipy import stats

    released = np.isfinite(variances)
    size = int(released.sum())
    origin = np.zeros((rows, variances.size))
    # The zero vector is refused as an embedding, so the noise is seen on a known point instead.
    point = origin + 1.0
    noise = perturb(point) - point
    along = noise if axes is None else noise @ axes
    whitened = along[:, released] / np.sqrt(variances[released])
    radii = np.linalg.norm(whitened, axis=1)
    # Noise along a single axis is rounded to nothing once in some ten thousand draws, and then has no direction.
    directions = whitened / np.maximum(radii, np.finfo(np.float64).tiny)[:, np.newaxis]
    probes = _fixed_directions(size)
    found = {"radius": float(stats.kstest(radii, stats.gamma(size, scale=1 / epsilon).cdf).pvalue)}
    if size > 1:
        # (1 + cosine)/2 of a uniform direction with any fixed one is Beta((m - 1)/2, (m - 1)/2).
        law = stats.beta((size - 1) / 2, (size - 1) / 2)
        found |= {
            f"direction {number}": float(stats.kstest((1 + directions @ probe) / 2, law.cdf).pvalue)
            for number, probe in enumerate(probes)
        }
        found["independence"] = float(stats.spearmanr(radii, directions @ probes[-1]).pvalue)
        found["largest"] = _largest_pvalue(directions)
        found["twins"] = _twins_pvalue(directions)
    found["spread"] = _spread_pvalue(whitened, epsilon)
    return found | _row_pvalues(directions, size)


def purkayastha_pvalues(perturb: Perturb, *, epsilon: float, dimensions: int, rows: int = 4000) -> dict[str, float]:
    """Test directions that should have density proportional to exp(-epsilon * angle) on the sphere."""
    from scipy import stats

    point = _fixed_directions(dimensions)[-1]
    released = perturb(np.tile(point, (rows, 1)))
    unit = released / np.linalg.norm(released, axis=1, keepdims=True)
    angles = 2 * np.arctan2(np.linalg.norm(unit - point, axis=1), np.linalg.norm(unit + point, axis=1))
    grid, mass = _angle_masses(epsilon, dimensions)
    found = {"angle": float(stats.kstest(angles, lambda values: np.interp(values, grid, mass)).pvalue)}
    sideways = released - (released @ point)[:, np.newaxis] * point
    sideways /= np.linalg.norm(sideways, axis=1, keepdims=True)
    across = _orthogonal_to(point)
    if dimensions == 2:
        found["side"] = float(stats.binomtest(int((sideways @ across > 0).sum()), rows).pvalue)
    else:
        side_law = stats.beta((dimensions - 2) / 2, (dimensions - 2) / 2)
        found["side"] = float(stats.kstest((1 + sideways @ across) / 2, side_law.cdf).pvalue)
    side = np.round(sideways @ across, 9)
    # Where every side is the same there is nothing to correlate, and that is caught above.
    found["angle and side"] = float(stats.spearmanr(angles, side).pvalue) if np.ptp(side) > 0 else 0.0
    return found | _row_pvalues(sideways, dimensions - 1)


def _angle_masses(epsilon: float, dimensions: int) -> tuple[Vector, Vector]:
    """Return angles and the chance of a smaller one, by the closed form of the integral and not by our own code."""
    from scipy import integrate, special

    power = dimensions - 2
    # ∫ sin(t)^p exp(-εt) dt over [0, π] = π exp(-επ/2) Γ(p + 1) / (2^p |Γ(1 + (p + iε)/2)|²).
    log_total = np.log(np.pi) - epsilon * np.pi / 2 + special.gammaln(power + 1) - power * np.log(2)
    log_total -= 2 * special.loggamma(1 + (power + 1j * epsilon) / 2).real
    mode = np.arctan2(power, epsilon)
    width = np.sin(mode) / np.sqrt(power) if power else 1 / epsilon
    grid = np.linspace(max(0.0, mode - 40 * width), min(np.pi, mode + 40 * width), 100_001)
    density = np.exp(special.xlogy(power, np.sin(grid)) - epsilon * grid - log_total)
    return grid, integrate.cumulative_simpson(density, x=grid, initial=0)


def _row_pvalues(directions: Matrix, dimensions: int) -> dict[str, float]:
    """Compare each row's direction, uniform in `dimensions`, with the next row's and with that half a batch away."""
    from scipy import stats

    found = {}
    half = directions.shape[0] // 2
    apart = {"neighbors": (directions[0::2], directions[1::2]), "halves": (directions[:half], directions[half:])}
    for name, (first, second) in apart.items():
        size = min(len(first), len(second))
        cosines = np.einsum("ij,ij->i", first[:size], second[:size])
        # The cosine of two independent uniform directions has mean 0 and mean square 1/m; shared noise has 1, or -1.
        mean = abs(cosines.mean()) * np.sqrt(size * dimensions)
        found[name] = float(2 * stats.norm.sf(mean))
        square = (cosines**2).mean() * dimensions
        found[f"{name}, squared"] = float(2 * stats.norm.sf(abs(square - 1) * np.sqrt(size / 2)))
    return found


def _largest_pvalue(directions: Matrix) -> float:
    """Compare the largest coordinate of each direction with that of fresh uniform directions."""
    from scipy import stats

    fresh = np.random.default_rng(0).standard_normal(directions.shape)
    fresh /= np.linalg.norm(fresh, axis=1, keepdims=True)
    largest, expected = np.abs(directions).max(axis=1), np.abs(fresh).max(axis=1)
    # The exact law is out of reach of doubles from some thousand rows on, and then SciPy warns.
    return float(stats.ks_2samp(largest, expected, method="asymp").pvalue)


def _twins_pvalue(directions: Matrix) -> float:
    """Test that no two of up to 64 axes are correlated; the smallest p-value, times the number of pairs."""
    from scipy import stats

    some = directions[:, : min(64, directions.shape[1])]
    size = some.shape[1]
    second_moment = some.T @ some / len(some) * directions.shape[1]
    largest = np.abs(second_moment[~np.eye(size, dtype=bool)]).max()
    pairs = size * (size - 1) / 2
    return float(min(1.0, 2 * pairs * stats.norm.sf(largest * np.sqrt(len(some)))))


def _spread_pvalue(whitened: Matrix, epsilon: float) -> float:
    """Compare the mean square along each axis with its exact value; the smallest p-value, times the number of axes."""
    from scipy import stats

    rows, size = whitened.shape
    # E[u_i²] = (m + 1)/epsilon²; E[u_i⁴] = E[r⁴]·3/(m(m + 2)) with E[r⁴] = m(m + 1)(m + 2)(m + 3)/epsilon⁴.
    mean = (size + 1) / epsilon**2
    fourth = 3 * (size + 1) * (size + 3) / epsilon**4
    scores = ((whitened**2).mean(axis=0) - mean) / np.sqrt((fourth - mean**2) / rows)
    return float(min(1.0, 2 * size * stats.norm.sf(np.abs(scores).max())))


def _fixed_directions(dimensions: int) -> Matrix:
    """Return the first axis, the last axis, and a direction between all axes."""
    unit = np.eye(1, dimensions)[0]
    mixed = np.cos(np.arange(dimensions)) + 0.1
    return np.stack([unit, unit[::-1], mixed / np.linalg.norm(mixed)])


def _orthogonal_to(direction: Vector) -> Vector:
    other = np.sin(np.arange(direction.size) + 1.0)
    other = other - (other @ direction) * direction
    return np.asarray(other / np.linalg.norm(other))
