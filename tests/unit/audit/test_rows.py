from __future__ import annotations

from vecveil.audit.rows import Estimate


def test_it_reads_as_a_number_with_its_interval() -> None:
    assert str(Estimate(value=0.5, low=0.25, high=0.75)) == "0.500 [0.250, 0.750]"
