from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.embedders import DIMENSIONS, WordEmbedder
from support.veils import PRIVATE_WORD
from vecveil.core.errors import InvalidInputError
from vecveil.veil.embedding import CHUNK, embed_texts


def test_many_texts_come_back_in_order() -> None:
    texts = [f"text number {number}" for number in range(CHUNK + 3)]
    np.testing.assert_array_equal(embed_texts(WordEmbedder(), texts), WordEmbedder().embed(texts))


def test_no_texts_give_no_vectors() -> None:
    assert embed_texts(WordEmbedder(), []).shape == (0, DIMENSIONS)


def test_a_vector_that_is_nan_is_refused_by_the_row_of_its_text() -> None:
    texts = ["good"] * (CHUNK + 5) + [PRIVATE_WORD]
    with pytest.raises(InvalidInputError, match=f"row {CHUNK + 5 + 100}") as refused:
        embed_texts(WordEmbedder(spoilt=PRIVATE_WORD), texts, first_row=100)
    assert PRIVATE_WORD not in str(refused.value)


def test_a_blank_text_is_refused_before_anything_is_embedded() -> None:
    embedder = WordEmbedder()
    with pytest.raises(InvalidInputError, match="row 12 has no text"):
        embed_texts(embedder, ["a", "b", " "], first_row=10)
    assert embedder.asked == []


def test_a_column_is_embedded_and_a_table_is_refused() -> None:
    import pandas

    texts = ["one text", "another"]
    columns: list[Any] = [pa.array(texts), pandas.Series(texts, index=[5, 6]), iter(texts)]
    for column in columns:
        np.testing.assert_array_equal(embed_texts(WordEmbedder(), column), WordEmbedder().embed(texts))
    embedder = WordEmbedder()
    for table in (pandas.DataFrame({"text": texts}), pandas.DataFrame({"id": [1, 2], "text": texts})):
        with pytest.raises(InvalidInputError, match="one column, got a whole table"):
            embed_texts(embedder, table)
    assert embedder.asked == []
