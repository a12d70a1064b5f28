from __future__ import annotations

from dataclasses import replace

from benchmarks.growth import measure_growth
from benchmarks.workload import QUICK


def test_every_size_stands_beside_the_smallest() -> None:
    workload = replace(QUICK, growing_rows=(10, 20), growing_dimensions=(8, 16), growing_pairs=(20, 40))
    found = {one.name: one for one in measure_growth(workload)}
    for smallest, largest in (
        ("Laplace, 10 vectors of 64 numbers", "Laplace, 20 vectors of 64 numbers"),
        ("Laplace, vectors of 8 numbers", "Laplace, vectors of 16 numbers"),
        ("learning canonical, 20 pairs", "learning canonical, 40 pairs"),
    ):
        assert found[smallest].reference == ""
        assert found[largest].reference == smallest
    assert {one.unit for one in found.values()} == {"µs per vector", "ns per number", "µs per pair"}
