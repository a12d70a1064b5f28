"""A queue of requests whose vectors are protected and recorded together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.errors import ArtifactError, BudgetExceededError, EmbedderMismatchError, VecveilError
from vecveil.service.messages import RefusedError
from vecveil.service.upstream import CleanVectors
from vecveil.veil.release import Release

MOST_ROWS = 8192
"""Rows that are released together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    clean: CleanVectors
    done: asyncio.Future[NDArray[Any]]


class ReleaseQueue:
    """Protects the vectors of all requests that wait and records them, in one transaction.

    A vector is handed out only after its release is on record.

    Args:
        release: The veil at its budget, with its key and its ledger.
    """

    def __init__(self, release: Release) -> None:
        self.release = release
        self._waiting: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._closed = False
        self._worker: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="release")

    async def protect(self, clean: CleanVectors) -> NDArray[Any]:
        """Return protected copies of vectors.

        Raises:
            RefusedError: If a record has no budget left, the vectors are not the veil's model's, the ledger fails, or
                its owner's rules refuse the release.
        """
        if self._closed:
            raise RefusedError(503, "the gateway is being stopped", code="stopping")
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
        done: asyncio.Future[NDArray[Any]] = asyncio.get_running_loop().create_future()
        await self._waiting.put(_Job(clean=clean, done=done))
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
            while not self._waiting.empty() and sum(len(job.clean.vectors) for job in taken if job) < MOST_ROWS:
                taken.append(self._waiting.get_nowait())
            last = None in taken
            # A client that has left needs no release, and no record is charged for it.
            jobs = [job for job in taken if job is not None and not job.done.cancelled()]
            if not jobs:
                continue
            outcomes = await asyncio.get_running_loop().run_in_executor(self._thread, self._release, jobs)
            for job, outcome in zip(jobs, outcomes, strict=True):
                if job.done.cancelled():
                    continue
                if isinstance(outcome, Exception):
                    job.done.set_exception(outcome)
                else:
                    job.done.set_result(outcome)

    def _release(self, jobs: Sequence[_Job]) -> list[NDArray[Any] | Exception]:
        vectors = [job.clean.vectors for job in jobs]
        contents = [content for job in jobs for content in job.clean.contents]
        words = [count for job in jobs for count in job.clean.words or [0] * len(job.clean.vectors)]
        try:
            rows = self.release.protect_vectors(np.concatenate(vectors), contents=contents, words=words)
        except Exception as error:  # noqa: BLE001  # each request that waits gets it
            if len(jobs) > 1 and isinstance(error, VecveilError) and not isinstance(error, ArtifactError):
                # One request at fault must not fail the others: each by itself then. A broken ledger fails for all.
                return [outcome for job in jobs for outcome in self._release([job])]
            return [_explain(error)] * len(jobs)
        return [*np.split(rows, np.cumsum([len(part) for part in vectors])[:-1])]


def _explain(error: Exception) -> Exception:
    """Return a refusal for what a client can act on; any other error is answered with a plain 500."""
    if isinstance(error, BudgetExceededError):
        return RefusedError(
            403,
            f"{error.records} of the inputs have been released as often as their budget allows",
            param="input",
            code="privacy_budget_exceeded",
        )
    if isinstance(error, EmbedderMismatchError):
        return RefusedError(502, "the upstream's vectors are not those of the veil's model", code="upstream_error")
    # The ledger is the only file that a release touches.
    if isinstance(error, ArtifactError):
        return RefusedError(503, "the release could not be recorded, so nothing was released", code="ledger_error")
    if isinstance(error, VecveilError):
        # The message may name the ledger's place.
        message = "the ledger does not take these inputs as they are, so nothing was released"
        return RefusedError(409, message, param="input", code="release_refused")
    return error
