from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.veils import PRIVATE_WORD
from vecveil.core.digests import text_digest
from vecveil.service.messages import RefusedError
from vecveil.service.upstream import LocalUpstream, TokenReader, digest_inputs

WORDS = ["", "rain", "again", PRIVATE_WORD]


class Encoding:
    """A table of tokens, one for each word."""

    def decode(self, tokens: list[int]) -> str:
        return " ".join(WORDS[token] for token in tokens)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> TokenReader:
    def get_encoding(name: str) -> Encoding:
        assert name == "small"
        return Encoding()

    monkeypatch.setattr("tiktoken.get_encoding", get_encoding)
    return TokenReader("small")


async def test_texts_and_their_tokens_are_the_same_record(reader: TokenReader) -> None:
    upstream = LocalUpstream(WordEmbedder(), reader)
    texts = await upstream.embed(["rain again", "again"])
    tokens = await upstream.embed([[1, 2], [2]])
    assert np.array_equal(texts.vectors, WordEmbedder().embed(["rain again", "again"]))
    assert np.array_equal(tokens.vectors, texts.vectors)
    assert tokens.contents == texts.contents == [text_digest("rain again"), text_digest("again")]
    # A model without a tokenizer is said to read words.
    assert (texts.tokens, tokens.tokens) == (3, 3)
    await upstream.close()


async def test_tokens_are_counted_by_the_models_own_tokenizer(reader: TokenReader) -> None:
    class Model(WordEmbedder):
        @property
        def pipeline(self) -> Any:
            return self

        def tokenizer(self, texts: list[str], **_: object) -> dict[str, list[list[int]]]:
            return {"input_ids": [[0] * (len(text.split()) + 2) for text in texts]}

    upstream = LocalUpstream(Model(), reader)
    assert (await upstream.embed(["rain again", "again"])).tokens == 7
    await upstream.close()


async def test_a_model_that_fails_is_not_quoted(reader: TokenReader) -> None:
    upstream = LocalUpstream(WordEmbedder(spoilt=PRIVATE_WORD), reader)
    with pytest.raises(RefusedError, match="could not embed the input") as refused:
        await upstream.embed([f"she has {PRIVATE_WORD}"])
    assert (refused.value.status, refused.value.code) == (502, "model_error")
    assert PRIVATE_WORD not in str(refused.value)
    assert refused.value.__suppress_context__
    await upstream.close()


@pytest.mark.parametrize(("tokens", "said"), [([1, 99], "tokens that are none"), ([0], "an empty text")])
def test_what_are_no_tokens_of_a_text_is_refused(
    reader: TokenReader, monkeypatch: pytest.MonkeyPatch, tokens: list[int], said: str
) -> None:
    def decode(_: Encoding, given: list[int]) -> str:
        if 99 in given:
            raise KeyError(99)
        return "\n"

    monkeypatch.setattr(Encoding, "decode", decode)
    with pytest.raises(RefusedError, match=said) as refused:
        reader.decode(tokens)
    assert (refused.value.status, refused.value.param) == (400, "input")


def test_a_table_that_can_t_be_had_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def get_encoding(name: str) -> Encoding:
        asked.append(name)
        raise OSError("no network")

    monkeypatch.setattr("tiktoken.get_encoding", get_encoding)
    reader = TokenReader("far")
    for _ in range(2):
        with pytest.raises(RefusedError, match=r"could not get the table of far.*: send texts"):
            reader.decode([1])
    assert asked == ["far"]


def test_tokens_are_known_by_their_numbers_where_nobody_reads_them() -> None:
    first, second, third = digest_inputs([[1, 2], [12], [1, 2]])
    assert first == third != second
    assert digest_inputs(["[1, 2]"]) != [first]


async def test_clients_are_served_in_turn(reader: TokenReader) -> None:
    read: list[str] = []

    class Model(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            read.append(texts[0])
            return super().embed(texts)

    upstream = LocalUpstream(Model(), reader)
    greedy = [upstream.embed(["greedy"] * 256, client="greedy") for _ in range(8)]
    whole = asyncio.gather(*greedy, upstream.embed(["modest"] * 64, client="modest"))
    found = await whole
    assert [len(one.vectors) for one in found] == [256] * 8 + [64]
    assert read.index("modest") <= 1
    assert len(read) == 33
    await upstream.close()


def test_a_text_of_tokens_that_is_too_long_is_refused(reader: TokenReader) -> None:
    reader = TokenReader("small", longest_text=9)
    assert reader.decode([1, 1]) == "rain rain"
    with pytest.raises(RefusedError, match="longer than 9 characters"):
        reader.decode([1, 1, 1])
