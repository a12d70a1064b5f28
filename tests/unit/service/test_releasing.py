from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from support.veils import made_veil, unit_vectors

from vecveil.accounting.ledger import open_ledger
from vecveil.core.errors import ArtifactError
from vecveil.core.key import Key
from vecveil.service.refusal import RefusedError
from vecveil.service.releasing import Releaser
from vecveil.service.upstream import Answer, contents_of
from vecveil.veil import Guard


def _answer(number: int, rows: int = 2) -> Answer:
    texts = [f"text {number} {row}" for row in range(rows)]
    return Answer(
        vectors=unit_vectors(rows, seed=number), contents=contents_of(texts), seen=contents_of(texts), tokens=1
    )


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    return Guard(made_veil(epsilon=50.0), key=Key.new(), ledger=tmp_path / "ledger.sqlite")


async def test_many_requests_get_each_their_own_rows(guard: Guard) -> None:
    releaser = Releaser(guard)
    together = await asyncio.gather(*(releaser.release(_answer(number)) for number in range(50)))
    alone = [await releaser.release(_answer(number)) for number in range(50)]
    assert np.array_equal(together, alone)
    await releaser.close()
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == 200
        assert ledger.totals().records == 100


async def test_what_is_waiting_is_released_before_it_closes_and_nothing_after(guard: Guard) -> None:
    releaser = Releaser(guard)
    waiting = [asyncio.ensure_future(releaser.release(_answer(number))) for number in range(8)]
    await asyncio.sleep(0)
    await asyncio.wait_for(releaser.close(), 20)
    assert all(one.done() and len(one.result()) == 2 for one in waiting)
    with pytest.raises(RefusedError, match="being stopped"):
        await releaser.release(_answer(9))


async def test_who_has_left_is_not_charged(guard: Guard) -> None:
    releaser = Releaser(guard)
    left = asyncio.ensure_future(releaser.release(_answer(0)))
    await asyncio.sleep(0)
    left.cancel()
    await releaser.release(_answer(1))
    await releaser.close()
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().records == 2


async def test_one_bad_request_does_not_fail_the_others(guard: Guard) -> None:
    releaser = Releaser(guard)
    bad = Answer(vectors=3 * unit_vectors(1), contents=contents_of(["long"]), seen=contents_of(["long"]), tokens=1)
    outcomes = await asyncio.gather(
        releaser.release(_answer(0)), releaser.release(bad), releaser.release(_answer(1)), return_exceptions=True
    )
    assert [isinstance(one, RefusedError) for one in outcomes] == [False, True, False]
    await releaser.close()


async def test_a_ledger_that_fails_is_asked_once_for_all_that_wait(
    guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fail(*_: object) -> None:
        asked.append(1)
        raise ArtifactError("busy")

    monkeypatch.setattr(Guard, "release", fail)
    releaser = Releaser(guard)
    outcomes = await asyncio.gather(
        *(releaser.release(_answer(number)) for number in range(20)), return_exceptions=True
    )
    assert {one.code for one in outcomes if isinstance(one, RefusedError)} == {"ledger_error"}
    assert len(asked) <= 2
    await releaser.close()
