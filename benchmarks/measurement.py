"""Measurements: timed work beside its reference."""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

Work = Callable[[], object]

SCALES = {"s": 1.0, "µs": 1e6, "ns": 1e9}
"""What seconds are multiplied by, for each first word of a unit."""

VECTOR = "µs per vector"


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One row of the page.

    Attributes:
        name: What was measured.
        value: How much it took.
        unit: Unit of the value.
        reference: Name of the row that it is compared with; empty where it is compared with none.
        ratio: The value over that of the reference; None where there is none.
        target: The most that the ratio may be, or the value where there is no reference; None for no target.
    """

    name: str
    value: float
    unit: str
    reference: str = ""
    ratio: float | None = None
    target: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        return None if self.target is None else (self.value if self.ratio is None else self.ratio) <= self.target

    def compare(self, reference: Measurement, *, target: float | None = None) -> Measurement:
        """Return this measurement beside a reference."""
        return replace(self, reference=reference.name, ratio=self.value / reference.value, target=target)


@dataclass(frozen=True)
class Benchmark:
    """Work to time.

    Attributes:
        name: What is done.
        work: Does it once.
        items: How many items that is; the time is given for one.
        unit: Unit of the time: `s`, `µs` or `ns`, and of what.
        reference: Name of a benchmark of the same list and unit to compare with; empty for none.
        target: The most that the ratio to the reference may be, or the time where there is no reference.
    """

    name: str
    work: Work
    items: float = 1
    unit: str = VECTOR
    reference: str = ""
    target: float | None = None


def time_benchmarks(benchmarks: Sequence[Benchmark], *, rounds: int) -> list[Measurement]:
    """Return the shortest processor time of each benchmark, with libraries on one core.

    They run in turn, so that a slow moment of the machine falls on all of them. Time on the wall would depend on what
    else the machine does, above all for libraries whose threads wait for each other.
    """
    from threadpoolctl import threadpool_limits

    best = dict.fromkeys([one.name for one in benchmarks], math.inf)
    for _ in range(rounds):
        for one in benchmarks:
            # Set each time: it holds for libraries that are loaded, and the first round may load one.
            with threadpool_limits(limits=1):
                started = read_processor_time()
                one.work()
                best[one.name] = min(best[one.name], (read_processor_time() - started) / one.items)
    found = {
        one.name: Measurement(
            name=one.name,
            value=best[one.name] * SCALES[one.unit.partition(" ")[0]],
            unit=one.unit,
            target=one.target,
        )
        for one in benchmarks
    }
    return [
        found[one.name].compare(found[one.reference], target=one.target) if one.reference else found[one.name]
        for one in benchmarks
    ]


def read_processor_time() -> float:
    """Return the processor seconds of this process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
