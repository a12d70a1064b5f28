"""The matrix library, limited to one thread for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import current_thread, main_thread

from threadpoolctl import ThreadpoolController


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Let the matrix library work on one thread meanwhile.

    Its threads wait for one another by spinning: on a busy machine a product takes ten times as long as on one thread.
    The setting is the whole process's, so that only the main thread changes it: of two threads that overlap, the last
    one out would leave behind what the first one set.
    """
    if current_thread() is not main_thread():
        yield
        return
    with _find_libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _find_libraries() -> ThreadpoolController:
    # Looking for them takes milliseconds.
    return ThreadpoolController()
