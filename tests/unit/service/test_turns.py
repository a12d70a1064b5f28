from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.gateways import gateway_veil
from support.guards import without_words
from vecveil.concepts import terms
from vecveil.core.key import Key
from vecveil.service.clients import Client, Clients
from vecveil.service.gateway import Gateway, Settings
from vecveil.service.messages import EmbeddingRequest, RefusedError
from vecveil.service.turns import ClientTurns, split_inputs
from vecveil.veil import Guard
from vecveil.veil.release import Release
from vecveil.veil.words import RewrittenTexts


def test_inputs_are_split_by_number_and_length() -> None:
    def parts(inputs: list[object]) -> list[slice]:
        return [*split_inputs(inputs, characters=200_000)]

    assert parts(["a"] * 130) == [slice(0, 64), slice(64, 128), slice(128, 130)]
    assert parts(["a" * 150_000, "b" * 150_000, "c"]) == [slice(0, 1), slice(1, 3)]
    assert parts(["a" * 300_000]) == [slice(0, 1)]
    assert parts([[1] * 8000, [1] * 8000]) == [slice(0, 1), slice(1, 2)]


async def test_parts_come_back_in_their_order_and_clients_take_turns() -> None:
    turns = ClientTurns("test", characters=10)
    worked: list[list[str]] = []

    def work(part: list[str]) -> int:
        worked.append(part)
        return len(part)

    greedy = [turns.run(work, ["a" * 6, "b" * 6, "c" * 6], client="greedy") for _ in range(4)]
    found = await asyncio.gather(*greedy, turns.run(work, ["d"] * 9, client="modest"))
    assert found == [[1, 1, 1]] * 4 + [[9]]
    assert worked.index(["d"] * 9) <= 1
    turns.close()


async def test_a_failure_is_raised_and_the_next_client_is_served() -> None:
    turns = ClientTurns("test", characters=10)

    def fail(_: list[str]) -> None:
        raise RefusedError(400, "no")

    with pytest.raises(RefusedError):
        await turns.run(fail, ["a"], client="one")
    assert await turns.run(len, ["a"], client="one") == [1]
    turns.close()


async def test_many_private_texts_of_one_client_do_not_hold_up_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def rewrite(_: Release, texts: list[str]) -> RewrittenTexts:
        asked.append(texts)
        if texts[-1].startswith("last"):
            # What comes behind the rewriting is another matter.
            raise RefusedError(400, "done")
        return RewrittenTexts(texts, [0] * len(texts))

    monkeypatch.setattr(Release, "rewrite", rewrite)
    guard = without_words(Guard(gateway_veil(tmp_path / "a.veil"), key=Key.new()), terms("ward"))
    known = Clients({name: Client(name=name) for name in ("greedy", "modest")})
    gateway = Gateway.for_clients(known, guard, Settings(upstream="http://127.0.0.1:9/v1"))

    async def ask(name: str, texts: list[str]) -> None:
        handler = gateway.handlers[name]
        with pytest.raises(RefusedError, match="done"):
            await handler.answer(EmbeddingRequest(input=texts, model=handler.model), handler.side(handler.model))

    greedy = [ask("greedy", ["ward " * 1000] * 100 + ["last"]) for _ in range(4)]
    await asyncio.gather(*greedy, ask("modest", ["last one"]))
    assert asked.index(["last one"]) <= 1
    assert max(sum(map(len, part)) for part in asked) <= 20_000
    await gateway.close()
