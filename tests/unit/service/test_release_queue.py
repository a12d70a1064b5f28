from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from support.veils import made_veil, unit_vectors
from vecveil.core.errors import ArtifactError
from vecveil.core.key import Key
from vecveil.ledger import open_ledger
from vecveil.service.messages import RefusedError
from vecveil.service.release_queue import ReleaseQueue
from vecveil.service.upstream import CleanVectors, digest_inputs
from vecveil.veil import Guard
from vecveil.veil.ledger_run import LedgerRun


def _clean(number: int, rows: int = 2) -> CleanVectors:
    contents = digest_inputs([f"text {number} {row}" for row in range(rows)])
    return CleanVectors(vectors=unit_vectors(rows, seed=number), contents=contents, tokens=1)


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    return Guard(made_veil(epsilon=50.0), key=Key.new(), ledger=tmp_path / "ledger.sqlite")


async def test_many_requests_get_each_their_own_rows(guard: Guard) -> None:
    queue = ReleaseQueue(guard.release)
    together = await asyncio.gather(*(queue.protect(_clean(number)) for number in range(50)))
    alone = [await queue.protect(_clean(number)) for number in range(50)]
    assert np.array_equal(together, alone)
    await queue.close()
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == 200
        assert ledger.totals().records == 100


async def test_what_is_waiting_is_released_before_it_closes_and_nothing_after(guard: Guard) -> None:
    queue = ReleaseQueue(guard.release)
    waiting = [asyncio.ensure_future(queue.protect(_clean(number))) for number in range(8)]
    await asyncio.sleep(0)
    await asyncio.wait_for(queue.close(), 20)
    assert all(one.done() and len(one.result()) == 2 for one in waiting)
    with pytest.raises(RefusedError, match="being stopped"):
        await queue.protect(_clean(9))


async def test_who_has_left_is_not_charged(guard: Guard) -> None:
    queue = ReleaseQueue(guard.release)
    left = asyncio.ensure_future(queue.protect(_clean(0)))
    await asyncio.sleep(0)
    left.cancel()
    await queue.protect(_clean(1))
    await queue.close()
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().records == 2


async def test_one_bad_request_does_not_fail_the_others(guard: Guard) -> None:
    queue = ReleaseQueue(guard.release)
    bad = CleanVectors(vectors=3 * unit_vectors(1), contents=digest_inputs(["long"]), tokens=1)
    outcomes = await asyncio.gather(
        queue.protect(_clean(0)), queue.protect(bad), queue.protect(_clean(1)), return_exceptions=True
    )
    assert [isinstance(one, RefusedError) for one in outcomes] == [False, True, False]
    await queue.close()


async def test_a_ledger_that_fails_is_asked_once_for_all_that_wait(
    guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fail(*_: object) -> None:
        asked.append(1)
        raise ArtifactError("busy")

    monkeypatch.setattr(LedgerRun, "spend", fail)
    queue = ReleaseQueue(guard.release)
    outcomes = await asyncio.gather(*(queue.protect(_clean(number)) for number in range(20)), return_exceptions=True)
    assert {one.code for one in outcomes if isinstance(one, RefusedError)} == {"ledger_error"}
    assert len(asked) <= 2
    await queue.close()
