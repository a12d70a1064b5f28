from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from support.veils import PRIVATE_WORD
from vecveil.service.messages import EmbeddingRequest, RefusedError, RerankRequest, read_request, write_answer


def _body(**changes: object) -> bytes:
    return json.dumps({"input": "a text", "model": "m", **changes}).encode()


@pytest.mark.parametrize(
    ("given", "inputs"),
    [
        ("a", ["a"]),
        (["a", "b"], ["a", "b"]),
        ([1, 2, 3], [[1, 2, 3]]),
        ([[1, 2], [3]], [[1, 2], [3]]),
    ],
)
def test_every_way_to_send_inputs_is_read(given: object, inputs: object) -> None:
    assert read_request(_body(input=given), EmbeddingRequest).inputs == inputs


def test_what_else_clients_send_is_no_trouble() -> None:
    found = read_request(_body(encoding_format="base64", dimensions=8, user="me", whatever={"a": 1}), EmbeddingRequest)
    assert (found.encoding_format, found.dimensions) == ("base64", 8)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"{", None),
        (b"\xff\xfe", None),
        (b"[]", None),
        (b'"' + PRIVATE_WORD.encode(), None),
        (b"[" * 100_000, None),
        (b'{"input": "\xc3\x28", "model": "m"}', None),
        (_body(input=None), "input"),
        (_body(input=""), "input"),
        (_body(input="   "), "input"),
        (_body(input=[]), "input"),
        (_body(input=["a", ""]), "input"),
        (_body(input=["a", 1]), "input"),
        (_body(input=[1.5]), "input"),
        (_body(input=[-1]), "input"),
        (_body(input=[True]), "input"),
        (_body(input=[[]]), "input"),
        (_body(input=[[2**40]]), "input"),
        (_body(input={"text": PRIVATE_WORD}), "input"),
        (_body(input=["a"] * 2049), "input"),
        (_body(model=None), "model"),
        (_body(model=7), "model"),
        (_body(model=""), "model"),
        (_body(model=PRIVATE_WORD * 100), "model"),
        (_body(encoding_format=PRIVATE_WORD), "encoding_format"),
        (_body(dimensions="8"), "dimensions"),
        (_body(dimensions=0), "dimensions"),
        (b'{"model": "m"}', "input"),
        (b'{"input": "a"}', "model"),
    ],
)
def test_what_is_wrong_is_named_and_not_repeated(body: bytes, param: str | None) -> None:
    with pytest.raises(RefusedError) as raised:
        read_request(body, EmbeddingRequest)
    assert raised.value.status == 400
    assert raised.value.param == param
    assert json.loads(raised.value.response().body)["error"]["type"] == "invalid_request_error"
    assert PRIVATE_WORD not in str(raised.value.response().body)


@pytest.mark.parametrize("given", ["a" * 101, ["a", "a" * 101], " " * 101])
def test_a_text_that_is_too_long_is_refused(given: object) -> None:
    with pytest.raises(RefusedError, match="longer than 100 characters") as raised:
        read_request(_body(input=given), EmbeddingRequest, longest_text=100)
    assert (raised.value.status, raised.value.param, raised.value.code) == (400, "input", "string_above_max_length")


def test_2048_inputs_are_taken() -> None:
    assert len(read_request(_body(input=["a"] * 2048), EmbeddingRequest).inputs) == 2048


@pytest.mark.parametrize("encoding", ["base64", "float", None])
def test_vectors_come_back_in_order_and_to_the_bit(encoding: str | None) -> None:
    rows = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
    found = json.loads(write_answer(rows, model="m", encoding=encoding, tokens=7))
    assert [entry["index"] for entry in found["data"]] == [0, 1, 2]
    read = [
        np.frombuffer(base64.b64decode(one["embedding"]), "<f4") if encoding == "base64" else one["embedding"]
        for one in found["data"]
    ]
    assert np.array_equal(np.asarray(read, dtype=np.float32), rows)
    assert found["usage"] == {"prompt_tokens": 7, "total_tokens": 7}
    assert (found["object"], found["data"][0]["object"], found["model"]) == ("list", "embedding", "m")


@pytest.mark.parametrize("grid", ["float16", "int8"])
def test_coarser_grids_are_written_as_numbers_too(grid: str) -> None:
    rows = np.array([[1, -2, 3]], dtype=grid)
    assert json.loads(write_answer(rows, model="m", encoding=None, tokens=0))["data"][0]["embedding"] == [
        1.0,
        -2.0,
        3.0,
    ]


def _ranking(**changes: object) -> bytes:
    return json.dumps({"model": "m", "query": "rain", "documents": ["a", "b"], **changes}).encode()


def test_documents_are_texts_or_seals_with_their_ids() -> None:
    given = ["a", {"text": "b", "title": "c"}, {"id": 7, "seal": "vvs1:"}, {"id": "x", "seal": "vvs1:", "text": "d"}]
    found = read_request(_ranking(documents=given, top_n=2, max_chunks_per_doc=1), RerankRequest)
    assert [(one.text, one.id, one.seal) for one in found.opened_documents] == [
        ("a", None, None),
        ("b", None, None),
        (None, 7, "vvs1:"),
        ("d", "x", "vvs1:"),
    ]
    assert found.top_n == 2


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"documents": []}, "documents"),
        ({"documents": PRIVATE_WORD}, "documents"),
        ({"documents": ["a", ""]}, "documents"),
        ({"documents": ["a", "  "]}, "documents"),
        ({"documents": ["a", {"text": " "}]}, "documents"),
        ({"documents": ["a"] * 2049}, "documents"),
        ({"documents": ["a", {"title": PRIVATE_WORD}]}, "documents"),
        ({"documents": ["a", {"seal": PRIVATE_WORD}]}, "documents"),
        ({"documents": ["a", {"seal": PRIVATE_WORD, "text": "b"}]}, "documents"),
        ({"documents": ["a", {"id": [PRIVATE_WORD], "seal": "b"}]}, "documents"),
        ({"query": ""}, "query"),
        ({"query": "  "}, "query"),
        ({"query": [PRIVATE_WORD]}, "query"),
        ({"top_n": 0}, "top_n"),
        ({"top_n": PRIVATE_WORD}, "top_n"),
        ({"return_documents": PRIVATE_WORD}, "return_documents"),
        ({"model": ""}, "model"),
    ],
)
def test_what_is_wrong_with_an_order_is_named_and_not_repeated(changes: dict[str, object], param: str) -> None:
    with pytest.raises(RefusedError) as raised:
        read_request(_ranking(**changes), RerankRequest)
    assert (raised.value.status, raised.value.param) == (400, param)
    assert PRIVATE_WORD not in str(raised.value.response().body)


def test_the_document_at_fault_is_named_by_its_place() -> None:
    with pytest.raises(RefusedError, match="document 1 is something else"):
        read_request(_ranking(documents=["a", {"seal": "b"}]), RerankRequest)
    with pytest.raises(RefusedError, match="documents must not be longer than 100") as raised:
        read_request(_ranking(documents=["a", "b" * 101]), RerankRequest, longest_text=100)
    assert (raised.value.param, raised.value.code) == ("documents", "string_above_max_length")


@pytest.mark.parametrize("ids", [["a", ""], ["a", None], ["a", 1.5], ["a", True], "ab", ["a" * 1025], ["a"] * 2049])
def test_ids_of_seals_are_texts_or_whole_numbers(ids: object) -> None:
    assert read_request(_body(seal_ids=["a", 7]), EmbeddingRequest).seal_ids == ["a", 7]
    with pytest.raises(RefusedError) as raised:
        read_request(_body(seal_ids=ids), EmbeddingRequest)
    assert raised.value.param == "seal_ids"


@pytest.mark.parametrize("numbers", [b"7," * 300_001, b"[7,7]," * 150_001])
def test_too_many_tokens_are_refused_before_they_are_read(numbers: bytes) -> None:
    body = b'{"model": "m", "input": [' + numbers + b"not even JSON"
    with pytest.raises(RefusedError, match="not hold more than 300,000 tokens"):
        read_request(body, EmbeddingRequest)
    words = json.dumps({"model": "m", "input": ["one, " * 19_000] * 20}).encode()
    assert len(read_request(words, EmbeddingRequest).inputs) == 20
