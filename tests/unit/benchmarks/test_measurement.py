from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

import pytest
from threadpoolctl import threadpool_info

from benchmarks.measurement import Benchmark, Measurement, read_processor_time, time_benchmarks


def test_a_ratio_is_held_against_the_target() -> None:
    ours, theirs = (Measurement(name=name, value=value, unit="s") for name, value in (("ours", 3.0), ("theirs", 2.0)))
    compared = ours.compare(theirs, target=1.6)
    assert (compared.reference, compared.ratio, compared.met) == ("theirs", 1.5, True)
    assert ours.compare(theirs, target=1.4).met is False


def test_a_value_is_held_against_the_target_where_there_is_no_reference() -> None:
    assert Measurement(name="ours", value=1.0, unit="s", target=2.0).met is True
    assert Measurement(name="ours", value=3.0, unit="s", target=2.0).met is False
    assert Measurement(name="ours", value=1.0, unit="s").met is None


def test_benchmarks_run_in_turn_and_the_shortest_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, order = 0.0, list[str]()
    monkeypatch.setattr("benchmarks.measurement.read_processor_time", lambda: clock)

    def take(name: str, seconds: Iterator[float]) -> None:
        nonlocal clock
        order.append(name)
        clock += next(seconds)

    first = Benchmark("first", partial(take, "first", iter([5.0, 2.0, 4.0])), 1, "µs per text")
    second = Benchmark("second", partial(take, "second", iter([7.0, 9.0, 8.0])), 2, "µs per text", "first", 2.0)
    found = time_benchmarks([first, second], rounds=3)
    assert order == ["first", "second"] * 3
    assert found == [
        Measurement(name="first", value=2e6, unit="µs per text"),
        Measurement(name="second", value=3.5e6, unit="µs per text", reference="first", ratio=1.75, target=2.0),
    ]


def test_waiting_takes_no_processor_time() -> None:
    (found,) = time_benchmarks([Benchmark("pause", lambda: time.sleep(0.2), unit="s")], rounds=1)
    assert found.value < 0.1


def test_libraries_use_one_core_where_processor_time_counts() -> None:
    threads: list[int] = []

    def look() -> None:
        threads.extend(one["num_threads"] for one in threadpool_info())

    time_benchmarks([Benchmark("look", look)], rounds=1)
    assert set(threads) == {1}


def test_processor_time_of_other_processes_counts() -> None:
    before = read_processor_time()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert read_processor_time() - before > 0.01
