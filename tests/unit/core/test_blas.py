from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from vecveil.core.blas import single_threaded_blas


def blas_threads() -> list[int]:
    """The threads of NumPy's own matrix library; others count theirs by the thread that asks."""
    np.ones((2, 2)) @ np.ones((2, 2))
    found = ThreadpoolController().select(user_api="blas").info()
    return [one["num_threads"] for one in found if "numpy" in one["filepath"]]


@pytest.fixture(autouse=True)
def two_threads() -> object:
    """The library on two threads, however many cores there are."""
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        yield


def test_products_keep_to_one_thread_within_and_are_free_again_behind() -> None:
    before = blas_threads()
    with single_threaded_blas():
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_within_itself_it_stays_until_the_end() -> None:
    before = blas_threads()
    with single_threaded_blas():
        with single_threaded_blas():
            assert set(blas_threads()) <= {1}
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_an_error_within_takes_it_back_too() -> None:
    before = blas_threads()
    with pytest.raises(ValueError, match="broken"), single_threaded_blas():
        raise ValueError("broken")
    assert blas_threads() == before


def test_only_the_main_thread_changes_it() -> None:
    before = blas_threads()
    seen: list[object] = []

    def enter() -> None:
        with single_threaded_blas():
            seen.append(blas_threads())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join(timeout=20)
    assert seen == [before]
