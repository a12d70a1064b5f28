from __future__ import annotations

import threading

import numpy as np

from vecveil.core.room import KeptRoom, new_room


def test_kept_memory_is_given_again_under_the_same_name_alone() -> None:
    room = KeptRoom()
    first = room("one", (3, 4))
    assert np.shares_memory(first, room("one", (12,)))
    assert np.shares_memory(first, room("one", (2, 2), "<u8"))
    assert not np.shares_memory(first, room("other", (3, 4)))
    assert not np.shares_memory(first, room("one", (5, 5)))
    assert not np.shares_memory(first, KeptRoom()("one", (3, 4)))


def test_memory_has_the_shape_and_type_that_was_asked_for() -> None:
    for room in (new_room, KeptRoom()):
        for shape in ((7,), (2, 3), (0, 5), (2, 0, 4)):
            for dtype in ("<f8", "<u8", "u1"):
                found = room("name", shape, dtype)
                assert found.shape == shape
                assert found.dtype == np.dtype(dtype)
                assert found.flags.c_contiguous
                found[...] = 1


def test_new_memory_is_nobody_elses() -> None:
    assert not np.shares_memory(new_room("one", (3, 4)), new_room("one", (3, 4)))


def test_threads_do_not_share_memory() -> None:
    room, found = KeptRoom(), []

    def work() -> None:
        found.append(room("one", (100,)))

    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    found.append(room("one", (100,)))
    assert not any(np.shares_memory(found[one], found[other]) for one, other in ((0, 1), (0, 2), (1, 2)))
