"""Find the coefficients in `vecveil.core.loops`, and print them.

The logarithm: a polynomial in s² for (log((1 + s)/(1 - s)) - 2s)/s³, by Chebyshev's nodes, for numbers from √½ to √2.

The tangent: N(z)/D(z), both cubic and N with a leading 1, for tan(πx/2)/x with z = x² up to 1/4. Each round solves a
linear least-squares problem whose weights are those that make the largest relative error the least (Loeb's iteration
for the denominator, Lawson's for the weights).
"""

from __future__ import annotations

import mpmath as mp

DEGREE, POINTS, ROUNDS = 3, 120, 12

LOG_DEGREE = 6


def main() -> None:
    """Print the largest errors and the coefficients, highest power first."""
    mp.mp.dps = 50
    logarithm()
    tangent()


def logarithm() -> None:
    """Print those of the logarithm."""
    farthest = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2

    def rest(z: mp.mpf) -> mp.mpf:
        if z < mp.mpf(10) ** -20:
            return mp.mpf(2) / 3
        s = mp.sqrt(z)
        return (mp.log((1 + s) / (1 - s)) - 2 * s) / s**3

    found, error = mp.chebyfit(rest, [0, farthest], LOG_DEGREE + 1, error=True)
    print("largest relative error of the logarithm", mp.nstr(error * farthest / 2, 3))
    print(*(mp.nstr(number, 20) for number in found))


def tangent() -> None:
    """Print those of the tangent."""
    places = [(1 + mp.cos(mp.pi * (number + mp.mpf(1) / 2) / POINTS)) / 8 for number in range(POINTS)]
    values = [mp.tan(mp.pi * mp.sqrt(place) / 2) / mp.sqrt(place) for place in places]
    weights, below = [mp.mpf(1)] * POINTS, [mp.mpf(1)] * POINTS
    for _ in range(ROUNDS):
        system, right = mp.matrix(POINTS, 2 * DEGREE + 1), mp.matrix(POINTS, 1)
        for row, (place, value) in enumerate(zip(places, values, strict=True)):
            scale = mp.sqrt(weights[row]) / (value * below[row])
            for power in range(DEGREE):
                system[row, power] = scale * place**power
            for power in range(DEGREE + 1):
                system[row, DEGREE + power] = -scale * value * place**power
            right[row] = -scale * place**DEGREE
        found = mp.lu_solve(system.T * system, system.T * right)
        above_of, below_of = [*found[:DEGREE], mp.mpf(1)], list(found[DEGREE:])
        below = [mp.polyval(below_of[::-1], place) for place in places]
        above = [mp.polyval(above_of[::-1], place) for place in places]
        errors = [abs(one / (other * value) - 1) for one, other, value in zip(above, below, values, strict=True)]
        weights = [weight * error for weight, error in zip(weights, errors, strict=True)]
        total = mp.fsum(weights)
        weights = [POINTS * weight / total for weight in weights]
    print("largest relative error of the tangent", mp.nstr(max(errors), 3))
    print("above", *(mp.nstr(number, 20) for number in above_of[::-1]))
    print("below", *(mp.nstr(number, 20) for number in below_of[::-1]))


if __name__ == "__main__":
    main()
