from __future__ import annotations

from vecveil.core.progress import silent


def test_silent_progress_yields_items_one_by_one_and_in_order() -> None:
    taken = []

    def items() -> object:
        for number in range(3):
            taken.append(number)
            yield number

    wrapped = silent(items(), label="working", total=3, weigh=lambda _: 1)
    assert taken == []
    assert next(wrapped) == 0
    assert taken == [0]
    assert list(wrapped) == [1, 2]
