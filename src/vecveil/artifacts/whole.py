"""The whole of an output, written behind its parts on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from vecveil.artifacts.writers import BatchWriter, writer_of


class WholeFile:
    """A file that grows while the next rows are being worked on.

    One batch at a time waits to be written: whoever brings the next waits for it, and hears of what went wrong.

    Args:
        path: The file; what stands there is overwritten.
        schema: Arrow schema of all batches.
        npy: Whether to write `.npy`, and not Parquet.
    """

    def __init__(self, path: Path, schema: Any, *, npy: bool) -> None:
        self._writer: BatchWriter = writer_of(path, schema, npy=npy)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vecveil-write")
        self._last: Future[None] | None = None

    def write(self, batches: Iterable[Any]) -> None:
        """Write record batches behind the others, later."""

        def work() -> None:
            for batch in batches:
                self._writer.write(batch)

        self._later(work)

    def close(self) -> None:
        """Write what is left, now."""
        self._later(self._writer.close)
        self._wait()
        self._thread.shutdown()

    def abandon(self) -> None:
        """Let go of a file that is not needed any more, once what it was given is written."""
        self._thread.shutdown()
        with suppress(Exception):
            self._writer.close()

    def _later(self, work: Callable[[], None]) -> None:
        self._wait()
        self._last = self._thread.submit(work)

    def _wait(self) -> None:
        if self._last is not None:
            waited, self._last = self._last, None
            waited.result()
