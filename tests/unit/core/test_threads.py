from __future__ import annotations

import os
import threading
import warnings

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.core.threads import _blas, cores, in_blocks


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)


@pytest.mark.parametrize(
    ("told", "taken"), [("2", 2), (" 2", 2), ("3,1", 3), ("99", 4), ("0", 4), ("-1", 4), ("many", 4), ("", 4)]
)
def test_as_many_cores_are_taken_as_told_and_as_there_are(
    monkeypatch: pytest.MonkeyPatch, told: str, taken: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert cores() == taken


@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize(("rows", "block"), [(0, 4), (1, 4), (4, 4), (10, 4), (100, 1)])
def test_every_row_is_done_once(monkeypatch: pytest.MonkeyPatch, threads: str, rows: int, block: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    done = [0] * rows

    def work(part: slice) -> None:
        for row in range(part.start, part.stop):
            done[row] += 1

    in_blocks(rows, block, work)
    assert done == [1] * rows


def test_the_cores_are_used_as_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    seen: set[int] = set()
    both = threading.Barrier(2, timeout=20)

    def work(part: slice) -> None:
        both.wait()
        seen.add(threading.get_ident())

    in_blocks(2, 1, work)
    assert len(seen) == 2


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_first_block_at_fault_is_the_one_that_is_heard_of(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", threads)

    def work(part: slice) -> None:
        if part.start >= 30:
            raise InvalidInputError(f"row {part.start}")

    with pytest.raises(InvalidInputError, match="row 30"):
        in_blocks(100, 10, work)


def _blas_threads() -> list[int]:
    # NumPy's own: others that tests have loaded count threads by the thread that asks.
    return [one["num_threads"] for one in _blas().info() if "numpy" in one["filepath"]]


def test_matrix_products_keep_to_their_thread_within_and_are_free_again_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    before, within = _blas_threads(), []

    def inner(_: slice) -> None:
        within.extend(_blas_threads())

    def outer(_: slice) -> None:
        in_blocks(2, 1, inner)
        within.extend(_blas_threads())
        raise ValueError("broken")

    if cores() > 1:
        with pytest.raises(ValueError, match="broken"):
            in_blocks(4, 1, outer)
        assert set(within) == {1}
    assert _blas_threads() == before


def test_a_fork_in_the_middle_can_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    before, codes = _blas_threads(), []

    def work(rows: slice) -> None:
        if rows.start:
            return
        child = os.fork()
        if not child:
            try:
                free = _blas_threads() == before
                in_blocks(4, 1, lambda _: None)
                os._exit(0 if free else 1)
            finally:
                os._exit(2)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    with warnings.catch_warnings():
        # That a process with threads is forked is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        in_blocks(4, 1, work)
    assert codes == [0]


def test_where_no_thread_can_be_begun_this_one_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    done: list[int] = []
    in_blocks(20, 1, lambda part: done.append(part.start))
    assert done == [*range(20)]


def test_a_stop_is_heard_of_before_any_fault() -> None:
    both = threading.Barrier(2, timeout=20)

    def work(part: slice) -> None:
        if part.start < 2:
            both.wait()
            raise ValueError("wrong") if part.start == 0 else KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_blocks(20, 1, work)
