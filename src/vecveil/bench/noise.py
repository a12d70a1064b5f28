"""Noise: batches beside what others need and what nobody can do without, keyed noise, and vectors one by one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from vecveil.bench.effort import Effort
from vecveil.bench.line import Line
from vecveil.bench.references import (
    OneVector,
    algorithm_one,
    algorithm_one_diagonal,
    alloy_encryption,
    diffprivlib_vector,
    drawn_normals,
    purkayastha_by_bisection,
    thin_products,
    triangle_products,
)
from vecveil.bench.subjects import DIMENSIONS, SEED, left_out, unit_vectors, veils
from vecveil.bench.timing import Work, best_seconds
from vecveil.core.arrays import Embeddings
from vecveil.core.key import Key
from vecveil.veil import Veil
from vecveil.veil.records import vector_contents

UNIT = "µs a vector"

DRAWING = "drawing the same normals"
COPYING = "copying the same bytes"
DIGESTS = "digests of the same vectors, alone"
ONE_DIGEST = "SHA-256 of the same vectors by the standard library, one at a time"
LEAVING_OUT = "the products of rotated noise of the default's shape, alone, by NumPy"
TURNING = "the products of rotated noise with all axes different, alone"
AS_PRINTED = "Algorithm 1 in NumPy, one at a time, as printed"
BY_DIAGONAL = "Algorithm 1 in NumPy, one at a time, with a diagonal"
BISECTION = "Purkayastha by bisection and quadrature, one at a time"
DIFFPRIVLIB = "diffprivlib's vector mechanism, one at a time"
DIFFPRIVLIB_SEEDED = "the same mechanism from a seed, which is not private"
ALLOY = "encryption by ironcore-alloy, in one batch"

ALONE = (DRAWING, COPYING, LEAVING_OUT, TURNING, DIGESTS, ONE_DIGEST)
"""What noise is made of, and what it is compared with."""

SLOW_VECTORS = 20
"""Of those that take milliseconds each."""

LAPLACE, DIAGONAL, DEFAULT, DENSE, PURKAYASTHA = tuple(veils(8))


def batch_lines(effort: Effort) -> Iterator[Line]:
    """Yield what noise costs in batches, with fresh randomness and with a key."""
    vectors, made = unit_vectors(effort.rows), veils()
    key = Key.new()
    works: dict[str, Work] = {
        DRAWING: lambda: drawn_normals(effort.rows, DIMENSIONS),
        COPYING: vectors.copy,
        LEAVING_OUT: thin_products(effort.rows, np.eye(left_out(DIMENSIONS), DIMENSIONS)),
        TURNING: triangle_products(effort.rows, np.tri(DIMENSIONS)),
        DIGESTS: lambda: vector_contents(vectors),
        ONE_DIGEST: lambda: [hashlib.sha256(vector.data) for vector in vectors],
        **{name: perturbing(veil, vectors) for name, veil in made.items()},
        **{_keyed(name): perturbing(veil, vectors, key) for name, veil in made.items()},
    }
    took = {name: 1e6 * value / effort.rows for name, value in best_seconds(works, rounds=effort.rounds).items()}
    others = _one_by_one(made[DIAGONAL], vectors, effort)
    for name, cost in (others | {name: took[name] for name in ALONE}).items():
        yield Line(what=name, value=cost, unit=UNIT)
    for name in (LAPLACE, DIAGONAL):
        yield Line.times_faster(name, took[name], UNIT, AS_PRINTED, others[AS_PRINTED], least=12)
        yield Line.times_faster(name, took[name], UNIT, BY_DIAGONAL, others[BY_DIAGONAL])
        yield Line.times_slower(name, took[name], UNIT, DRAWING, took[DRAWING], most=1.3)
    for name in (DEFAULT, DENSE):
        yield Line.times_slower(name, took[name], UNIT, DIAGONAL, took[DIAGONAL], most=2)
    yield Line.times_slower(PURKAYASTHA, took[PURKAYASTHA], UNIT, LAPLACE, took[LAPLACE], most=1.3)
    yield Line.times_faster(PURKAYASTHA, took[PURKAYASTHA], UNIT, BISECTION, others[BISECTION])
    for name in made:
        yield Line.times_slower(_keyed(name), took[_keyed(name)], UNIT, "fresh", took[name], most=2)


def single_lines(effort: Effort) -> Iterator[Line]:
    """Yield what one vector at a time costs through the public interface."""
    vectors, made = unit_vectors(2), veils()
    one = vectors[:1]

    def loop(veil: Veil) -> Work:
        return lambda: [veil.perturb(one) for _ in range(effort.singles)]

    took = best_seconds({name: loop(veil) for name, veil in made.items()}, rounds=effort.rounds)
    for name, value in took.items():
        wanted = None if name == DENSE else 60.0
        yield Line(what=f"{name}, one vector", value=1e6 * value / effort.singles, unit=UNIT, wanted=wanted)


def perturbing(veil: Veil, vectors: Embeddings, key: Key | None = None) -> Work:
    """Return the protection of a batch, with fresh noise or from a key."""
    return lambda: veil.perturb(vectors, key=key)


def _keyed(name: str) -> str:
    return f"{name}, keyed"


def _one_by_one(veil: Veil, vectors: Embeddings, effort: Effort) -> dict[str, float]:
    """Return the cost of each reference, in microseconds a vector."""
    epsilon = veil.epsilon or 1.0
    deviations = np.sqrt(veil.shape.variances)
    rng = np.random.default_rng(SEED)
    quick: dict[str, OneVector] = {
        AS_PRINTED: algorithm_one(np.diag(deviations), epsilon, rng),
        BY_DIAGONAL: algorithm_one_diagonal(deviations, epsilon, rng),
    }
    slow: dict[str, OneVector] = {
        BISECTION: purkayastha_by_bisection(DIMENSIONS, epsilon, rng),
        DIFFPRIVLIB: diffprivlib_vector(DIMENSIONS, epsilon, None),
        DIFFPRIVLIB_SEEDED: diffprivlib_vector(DIMENSIONS, epsilon, SEED),
    }
    doubles = vectors[: effort.singles].astype(np.float64)

    def loop(release: OneVector, rows: int) -> Work:
        return lambda: [release(vector) for vector in doubles[:rows]]

    counts = {**dict.fromkeys(quick, len(doubles)), **dict.fromkeys(slow, min(SLOW_VECTORS, len(doubles)))}
    works = {name: loop(release, counts[name]) for name, release in (quick | slow).items()}
    works[ALLOY], counts[ALLOY] = alloy_encryption(vectors[: effort.singles]), len(doubles)
    took = best_seconds(works, rounds=max(1, effort.rounds // 2))
    return {name: 1e6 * value / counts[name] for name, value in took.items()}
