"""Noise: in batches, and one vector at a time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from benchmarks.measurement import VECTOR, Benchmark, Measurement, Work, time_benchmarks
from benchmarks.references import ProtectOne, make_algorithm_one, make_alloy, make_diffprivlib
from benchmarks.workload import (
    DEFAULT,
    DIAGONAL,
    DIMENSIONS,
    LAPLACE,
    PURKAYASTHA,
    ROTATED,
    SEED,
    Workload,
    make_vectors,
    make_veils,
)
from vecveil.core.arrays import Embeddings
from vecveil.core.key import Key
from vecveil.veil import Veil

AS_PRINTED = "Algorithm 1 of the paper, one vector at a time"
WITH_DIAGONAL = "Algorithm 1 with a diagonal Σ, one vector at a time"

REFERENCES = {
    LAPLACE: WITH_DIAGONAL,
    DIAGONAL: WITH_DIAGONAL,
    DEFAULT: AS_PRINTED,
    ROTATED: AS_PRINTED,
    PURKAYASTHA: LAPLACE,
}
"""What each veil is compared with; a rotated shape needs Σ^½ as a matrix."""

SLOW_VECTORS = 20
"""Vectors for what takes milliseconds each."""


def measure_noise(workload: Workload) -> list[Measurement]:
    """Time batches with fresh and with keyed noise, beside one vector at a time."""
    vectors, veils, key = make_vectors(workload.rows), make_veils(), Key.new()
    few, rows = vectors[: workload.singles], len(vectors)
    benchmarks = _list_algorithms(veils[DIAGONAL], few)
    for name, veil in veils.items():
        benchmarks.append(Benchmark(name, partial(veil.perturb, vectors), rows, VECTOR, REFERENCES[name]))
    for name, veil in veils.items():
        work = partial(veil.perturb, vectors, key=key)
        benchmarks.append(Benchmark(f"{name}, keyed", work, rows, VECTOR, name, 2.0))
    if (diffprivlib := make_diffprivlib(DIMENSIONS, veils[LAPLACE].epsilon or 1.0)) is not None:
        name, slow = "diffprivlib's vector mechanism, one vector at a time", few[:SLOW_VECTORS]
        benchmarks.append(Benchmark(name, _repeat(diffprivlib, slow), len(slow), VECTOR, LAPLACE))
    if (alloy := make_alloy(few)) is not None:
        benchmarks.append(Benchmark("encryption by ironcore-alloy, in a batch", alloy, len(few), VECTOR, LAPLACE))
    return time_benchmarks(benchmarks, rounds=workload.rounds)


def measure_single(workload: Workload) -> list[Measurement]:
    """Time vectors that come one at a time."""
    vectors, veils = make_vectors(workload.singles), make_veils()
    rows = [vectors[row : row + 1] for row in range(len(vectors))]
    benchmarks = _list_algorithms(veils[DIAGONAL], vectors)
    for name, veil in veils.items():
        benchmarks.append(Benchmark(name, _repeat(veil.perturb, rows), len(rows), VECTOR, REFERENCES[name]))
    return time_benchmarks(benchmarks, rounds=workload.rounds)


def _list_algorithms(veil: Veil, vectors: Embeddings) -> list[Benchmark]:
    """Return Algorithm 1 with Σ^½ as a matrix, and with its diagonal."""
    deviations, rng = np.sqrt(veil.shape.variances), np.random.default_rng(SEED)
    doubles = list(vectors.astype(np.float64))
    return [
        Benchmark(name, _repeat(make_algorithm_one(root, veil.epsilon or 1.0, rng), doubles), len(doubles))
        for name, root in ((AS_PRINTED, np.diag(deviations)), (WITH_DIAGONAL, deviations))
    ]


def _repeat(protect: ProtectOne, vectors: Iterable[Embeddings]) -> Work:
    return lambda: [protect(vector) for vector in vectors]
