"""Find the coefficients in `vecveil.core.tangents`, and print them.

Fits N(z)/D(z), both cubic and N with a leading 1, to tan(πx/2)/x with z = x² up to 1/4. Each round solves a linear
least-squares problem whose weights are those that make the largest relative error the least (Loeb's iteration for the
denominator, Lawson's for the weights).
"""

from __future__ import annotations

import mpmath as mp

DEGREE, POINTS, ROUNDS = 3, 120, 12


def main() -> None:
    """Print the largest relative error and the coefficients, highest power first."""
    mp.mp.dps = 50
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
    print("largest relative error", mp.nstr(max(errors), 3))
    print("above", *(mp.nstr(number, 20) for number in above_of[::-1]))
    print("below", *(mp.nstr(number, 20) for number in below_of[::-1]))


if __name__ == "__main__":
    main()
