"""Growth of cost with rows, dimensions and contrast pairs."""

from __future__ import annotations

from functools import partial
from itertools import product

from benchmarks.learning import prepare_fit
from benchmarks.measurement import VECTOR, Benchmark, Measurement, Work, time_benchmarks
from benchmarks.workload import DEFAULT, LAPLACE, NARROW, ROTATED, Workload, make_evidence, make_vectors, make_veils

BATCH, LEARNED = 1000, 384
"""Rows of vectors that get longer, and length of vectors of which there are more and more pairs."""


def measure_growth(workload: Workload) -> list[Measurement]:
    """Time more rows, longer vectors and more pairs, each beside the smallest size."""
    benchmarks: list[Benchmark] = []
    smallest: dict[tuple[str, str], str] = {}

    def add(name: str, size: str, work: Work, items: int, unit: str) -> None:
        title = f"{name}, {size}"
        reference = smallest.setdefault((name, unit), title)
        benchmarks.append(Benchmark(title, work, items, unit, "" if reference == title else reference))

    for name, rows in product((LAPLACE, DEFAULT), workload.growing_rows):
        work = partial(make_veils(NARROW)[name].perturb, make_vectors(rows, NARROW))
        add(name, f"{rows:,} vectors of {NARROW} numbers", work, rows, VECTOR)
    for name, dimensions in product((LAPLACE, DEFAULT, ROTATED), workload.growing_dimensions):
        work = partial(make_veils(dimensions)[name].perturb, make_vectors(BATCH, dimensions))
        add(name, f"vectors of {dimensions:,} numbers", work, BATCH * dimensions, "ns per number")
    for name, pairs in product(("canonical", "difference"), workload.growing_pairs):
        fit = prepare_fit(name, make_evidence(pairs, LEARNED))
        add(f"learning {name}", f"{pairs:,} pairs", fit, pairs, "µs per pair")
    return time_benchmarks(benchmarks, rounds=max(2, workload.rounds // 2))
