from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.tasks import DOCUMENTS, JUDGMENTS, PAIRS, QUERIES, TEXTS
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.testing.tasks import WordEncoder
from vecveil.utility import Neighbors, Retrieval, Sts
from vecveil.utility.task import SidedTask, encode_side, is_protected

FIRST, SECOND, SCORES = zip(*PAIRS, strict=True)


@pytest.mark.parametrize(
    ("protected", "query", "document"),
    [("both", True, True), ("queries", True, False), ("documents", False, True)],
)
def test_the_protected_side_gets_released_vectors_and_the_other_clean_ones(
    protected: Any, query: bool, document: bool
) -> None:
    for side, released in (("query", query), ("document", document)):
        encoder, chosen = WordEncoder(), ["one text", "another"]
        assert is_protected(side, protected) == released
        vectors = encode_side(encoder, chosen, side=side, protected=protected)
        assert encoder.asked_released == (set(chosen) if released else set())
        assert encoder.asked_clean == (set() if released else set(chosen))
        np.testing.assert_array_equal(vectors, WordEncoder().embed_clean(chosen))


def test_an_encoder_must_give_a_vector_for_each_text() -> None:
    class Short(WordEncoder):
        def embed_released(self, texts: Sequence[str]) -> Embeddings:
            return super().embed_released(texts)[1:]

    with pytest.raises(InvalidInputError, match="3 texts must give as many query vectors, got 2"):
        encode_side(Short(), ["a", "b", "c"], side="query", protected="both")


def test_an_encoder_must_give_finite_numbers() -> None:
    class Broken(WordEncoder):
        def embed_clean(self, texts: Sequence[str]) -> Embeddings:
            return super().embed_clean(texts) * np.float32(np.nan)

    with pytest.raises(InvalidInputError, match="document vectors"):
        encode_side(Broken(), ["a"], side="document", protected="queries")


def test_the_label_names_source_and_side() -> None:
    assert SidedTask().label == "sidedtask"
    assert SidedTask(source="notes.txt").label == "sidedtask:notes.txt"
    assert SidedTask(protected="queries").label == "sidedtask (queries protected)"
    assert SidedTask(protected="documents", source="fiqa").label == "sidedtask:fiqa (documents protected)"


@pytest.mark.parametrize(
    "task",
    [
        Neighbors(texts=TEXTS),
        Retrieval(queries=QUERIES, documents=DOCUMENTS, judgments=JUDGMENTS),
        Sts(first=FIRST, second=SECOND, scores=SCORES),
    ],
    ids=lambda task: task.name,
)
def test_an_unknown_side_is_refused_with_a_guess(task: Any) -> None:
    with pytest.raises(UnknownNameError, match="unknown protected side 'document'; did you mean 'documents'"):
        replace(task, protected="document")
