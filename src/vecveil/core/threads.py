"""Work on many rows, in blocks that fit a core's own memory, on every core that this process may use."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from itertools import pairwise
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Work = Callable[[slice], None]


def cores() -> int:
    """Return how many cores this process may use: as OMP_NUM_THREADS says, which engines set, or else the system."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # A list has one number for each level of threads within threads.
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(int(told), there) if told.isdecimal() and int(told) > 0 else there


def in_blocks(rows: int, block: int, work: Work) -> None:
    """Call `work` for every block of rows; of several that fail, the first one's error is raised.

    Threads are started for each call and end with it: none is there to be lost in a fork.

    Args:
        rows: How many rows there are.
        block: Rows of a block.
        work: Does one block; it may be called for two at the same time.
    """
    if rows <= block:
        work(slice(0, rows))
        return
    bounds = [*range(0, rows, block), rows]
    blocks = [slice(start, stop) for start, stop in pairwise(bounds)]
    workers = min(cores(), len(blocks))
    if workers < 2:
        for one in blocks:
            work(one)
        return
    waiting = deque(blocks)
    failed: dict[int, BaseException] = {}

    def work_on() -> None:
        while waiting and not failed:
            try:
                one = waiting.popleft()
            except IndexError:
                return
            try:
                work(one)
            except BaseException as error:  # noqa: BLE001 - it is raised below
                failed[one.start] = error

    with _one_thread_each:
        # One less, as this thread works too. A pool of the library's takes ten times as long to begin and end.
        others = [Thread(target=work_on) for _ in range(workers - 1)]
        begun = []
        try:
            # Where there can't be another thread, those that are there do the work.
            with suppress(RuntimeError):
                for other in others:
                    other.start()
                    begun.append(other)
            work_on()
            for other in begun:
                other.join()
        except BaseException:
            waiting.clear()
            raise
    if failed:
        # Blocks are begun in their order, so that of those at fault this is the first there is; a stop comes before.
        stops = [error for error in failed.values() if not isinstance(error, Exception)]
        raise next(iter(stops), failed[min(failed)])


class _OneThreadEach:
    """Keeps matrix products to the thread that asks for them: on top of our own, threads of theirs are in the way.

    The limit holds for the whole process. So it goes with the last one to need it, whoever came first.
    """

    def __init__(self) -> None:
        self._limit: AbstractContextManager[Any] = nullcontext()
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = _blas().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.__exit__(None, None, None)

    def _begin(self) -> None:
        self._lock, self._inside = Lock(), 0

    def _forked(self) -> None:
        # The threads that were inside are not there, and whoever held the lock won't give it back.
        inside = self._inside
        self._begin()
        if inside:
            self._limit.__exit__(None, None, None)


@cache
def _blas() -> ThreadpoolController:
    # Looking for the libraries takes a millisecond.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_one_thread_each = _OneThreadEach()
