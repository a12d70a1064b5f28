from __future__ import annotations

import pytest

from vecveil.core.errors import VecveilError
from vecveil.core.randomness import RowStreams, fresh_streams
from vecveil.testing.selftest.workers import WORKERS, worker_words


def failing(rows: int) -> RowStreams:
    raise SystemExit(3)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_each_worker_answers(method: str) -> None:
    words = worker_words(fresh_streams, "fork" if method == "fork" else "spawn")
    assert len(set(words)) == WORKERS
    assert {len(word) for word in words} == {32}


def test_a_worker_that_ends_without_an_answer_is_named() -> None:
    with pytest.raises(VecveilError, match="a worker started by fork ended without an answer"):
        worker_words(failing, "fork")
