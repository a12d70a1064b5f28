"""The releases of one program in a ledger, numbered as they come."""

from __future__ import annotations

import os
from dataclasses import replace
from threading import Lock
from typing import Any

from numpy.typing import NDArray

from vecveil.accounting.ledger import Ledger, new_run
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import BudgetExceededError
from vecveil.veil.protection import Protection
from vecveil.veil.recording import Recording
from vecveil.veil.records import RecordBatch


class Journal:
    """One run for all that a program releases, whatever the number of calls and threads.

    Args:
        ledger: Where releases are recorded.
        protection: What makes them.
        collection: What ids belong to.
    """

    def __init__(self, ledger: Ledger, protection: Protection, *, collection: str = "") -> None:
        self._recording = Recording(ledger=ledger, protection=protection, run=new_run(), collection=collection)
        self._process = os.getpid()
        self._rows = 0
        self._lock = Lock()

    @property
    def here(self) -> bool:
        """Whether this process opened it; a fork must open its own, or two would number rows alike."""
        return self._process == os.getpid()

    def record(self, batch: RecordBatch) -> None:
        """Put releases on record, all or none, before any of them is given away.

        Raises:
            BudgetExceededError: If any record would go over the ledger's limit.
        """
        # Rows of a run are numbered without gaps, so one that is refused must not have taken numbers.
        with self._lock:
            try:
                self._recording.spend(batch, first_row=self._rows)
            except BudgetExceededError:
                raise
            except BaseException:
                # It may have been written all the same, as when a connection is lost while it says so. The next release
                # begins a run of its own, or it would claim the same numbers.
                self._recording, self._rows = replace(self._recording, run=new_run()), 0
                raise
            self._rows += len(batch)


def recorded_release(
    protection: Protection, vectors: Embeddings, records: RecordBatch, journal: Journal | None, *, first_row: int = 0
) -> NDArray[Any]:
    """Return protected copies of `vectors`, on record where there is a journal.

    Args:
        protection: What makes them.
        vectors: One row per record.
        records: What the records are called.
        journal: Where they are recorded; nowhere where None.
        first_row: Number of the first row in an error, where `vectors` are a part of something larger.
    """
    released = protection.release(vectors, names=records.names, first_row=first_row)
    if journal is not None:
        journal.record(records)
    return released
