"""Releases of many requests, made and recorded together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.errors import BudgetExceededError, EmbedderMismatchError, InvalidInputError, VecveilError
from vecveil.service.refusal import RefusedError
from vecveil.service.upstream import Answer
from vecveil.veil import Guard
from vecveil.veil.records import RecordBatch

MOST_ROWS = 8192
"""Rows that are released in one go."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    answer: Answer
    records: RecordBatch
    done: asyncio.Future[NDArray[Any]]


class Releaser:
    """Protects vectors and records it, all that is waiting at once: one transaction for many requests.

    A vector is handed out only after its release is on record.

    Args:
        guard: The veil, its budget, its key and its ledger.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self._waiting: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._closed = False
        self._worker: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="release")

    async def release(self, answer: Answer) -> NDArray[Any]:
        """Return protected copies of the vectors of an answer.

        Raises:
            RefusedError: If a record has no budget left, or the vectors are not the veil's model's.
        """
        if self._closed:
            raise RefusedError(503, "the gateway is being stopped", code="stopping")
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
        records = RecordBatch.of(answer.contents, None, seen=answer.seen)
        done: asyncio.Future[NDArray[Any]] = asyncio.get_running_loop().create_future()
        await self._waiting.put(_Job(answer=answer, records=records, done=done))
        return await done

    async def close(self) -> None:
        """Release what is waiting, and take no more."""
        self._closed = True
        if self._worker is not None:
            await self._waiting.put(None)
            await self._worker
            self._worker = None
        await asyncio.to_thread(self._thread.shutdown)

    async def _work(self) -> None:
        last = False
        while not last:
            taken = [await self._waiting.get()]
            while not self._waiting.empty() and sum(len(job.records) for job in taken if job) < MOST_ROWS:
                taken.append(self._waiting.get_nowait())
            last = None in taken
            # Who has left needs no release, and no one is charged for it.
            jobs = [job for job in taken if job is not None and not job.done.cancelled()]
            if not jobs:
                continue
            found = await asyncio.get_running_loop().run_in_executor(self._thread, self._released, jobs)
            for job, outcome in zip(jobs, found, strict=True):
                if job.done.cancelled():
                    continue
                if isinstance(outcome, Exception):
                    job.done.set_exception(outcome)
                else:
                    job.done.set_result(outcome)

    def _released(self, jobs: Sequence[_Job]) -> list[NDArray[Any] | Exception]:
        try:
            rows = self.guard.release(
                np.concatenate([job.answer.vectors for job in jobs]), RecordBatch.joined([job.records for job in jobs])
            )
        except Exception as error:  # noqa: BLE001  # whatever it is, only those who wait for it are told
            if len(jobs) > 1 and isinstance(error, BudgetExceededError | EmbedderMismatchError | InvalidInputError):
                # One client's trouble is not another's: each by itself then. A ledger that fails fails for all.
                return [outcome for job in jobs for outcome in self._released([job])]
            return [_for_client(error)] * len(jobs)
        return [*np.split(rows, np.cumsum([len(job.records) for job in jobs])[:-1])]


def _for_client(error: Exception) -> Exception:
    if isinstance(error, BudgetExceededError):
        return RefusedError(
            403,
            f"{error.records} of the inputs have been released as often as their budget allows",
            param="input",
            code="privacy_budget_exceeded",
        )
    if isinstance(error, EmbedderMismatchError):
        return RefusedError(
            502, "the upstream server's vectors are not those of the veil's model", code="upstream_error"
        )
    if isinstance(error, VecveilError):
        return RefusedError(503, "the release could not be recorded, so nothing was released", code="ledger_error")
    return error
