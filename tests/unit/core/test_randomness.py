from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest

from vecveil.core.randomness import secure_generator


def test_every_generator_is_another() -> None:
    draws = {secure_generator().integers(2**63) for _ in range(200)}
    assert len(draws) == 200


def test_the_generator_stands_on_a_cipher() -> None:
    assert type(secure_generator().bit_generator).__name__ == "ChaCha"
    assert secure_generator().bit_generator.state["state"]["rounds"] == 20


def test_normals_have_the_right_moments() -> None:
    values = secure_generator().standard_normal(200_000)
    # Six standard errors: a right generator fails this once in 500 million runs.
    assert abs(values.mean()) < 6 / np.sqrt(values.size)
    assert abs(values.var() - 1) < 6 * np.sqrt(2 / values.size)


def _send_draw(pipe: Connection) -> None:
    pipe.send(int(secure_generator().integers(2**63)))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_draw_different_noise(method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    draws = []
    for _ in range(4):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_send_draw, args=(sender,))
        worker.start()
        draws.append(receiver.recv())
        worker.join()
    assert len(set(draws)) == 4
