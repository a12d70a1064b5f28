"""What worker processes draw."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Literal

import numpy as np

from vecveil.core.errors import VecveilError
from vecveil.core.randomness import RowStreams

Source = Callable[[], np.random.Generator]
"""Returns a generator: another one each time, unless something is wrong."""

Streams = Callable[[int], RowStreams]
"""Returns streams for so many rows: others each time, unless something is wrong."""

Method = Literal["fork", "spawn"]

WORKERS = 2
PATIENCE = 120
"""Seconds that a worker may take to start and to draw."""

BLOCKS = 2
"""Of 128 bits that are compared: that two are the same by chance happens once in 2^256."""


def first_words(source: Streams) -> bytes:
    """Return the first bits that a stream gives."""
    return source(1).words(0, BLOCKS).tobytes()


def worker_words(source: Streams, method: Method) -> list[bytes]:
    """Return the first bits that each of some workers gets, started by "fork" or "spawn"."""
    context: Any = multiprocessing.get_context(method)
    found = []
    for _ in range(WORKERS):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_send, args=(sender, source), daemon=True)
        with warnings.catch_warnings():
            # A fork of a process with threads can hang if the child needs their locks. It needs none, and may be late.
            warnings.simplefilter("ignore", DeprecationWarning)
            worker.start()
        sender.close()
        try:
            if not receiver.poll(PATIENCE):
                raise VecveilError(f"a worker started by {method} did not answer within {PATIENCE} seconds")
            found.append(receiver.recv_bytes())
        except EOFError:
            raise VecveilError(f"a worker started by {method} ended without an answer") from None
        finally:
            worker.kill()
            worker.join()
    return found


def _send(pipe: Connection, source: Streams) -> None:
    pipe.send_bytes(first_words(source))
