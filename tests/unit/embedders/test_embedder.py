from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError
from vecveil.embedders import Fingerprint
from vecveil.embedders.embedder import have_length_one, require_unicode, sign_bits

MINE = Fingerprint(model="m", revision="r", dimensions=8, normalized=True)


def test_equal_fingerprints_have_equal_digests() -> None:
    again = Fingerprint(**json.loads(json.dumps(MINE.settings())))
    assert again == MINE
    assert again.digest() == MINE.digest()
    MINE.require(again)


@pytest.mark.parametrize("change", [{"model": "n"}, {"revision": "s"}, {"dimensions": 9}, {"normalized": False}])
def test_a_different_field_is_another_model(change: dict[str, object]) -> None:
    other = Fingerprint(**{**MINE.settings(), **change})
    assert other.digest() != MINE.digest()
    with pytest.raises(EmbedderMismatchError, match=next(iter(change))):
        MINE.require(other)


def test_a_model_without_dimensions_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="dimensions"):
        dataclasses.replace(MINE, dimensions=0)


def test_texts_come_back_as_a_list() -> None:
    assert require_unicode(("a", "", "é")) == ["a", "", "é"]


def test_one_string_is_not_a_list_of_texts() -> None:
    with pytest.raises(InvalidInputError, match="got one string"):
        require_unicode("secret")


@pytest.mark.parametrize("wrong", [None, 3, b"bytes"])
def test_what_is_no_string_is_named_by_its_row(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="row 1 must be a string"):
        require_unicode(["a", wrong])


def test_half_a_surrogate_pair_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidInputError, match="row 2 holds half a surrogate pair") as caught:
        require_unicode(["a", "b", "secret \ud800"])
    assert "secret" not in str(caught.value)


def test_a_column_is_taken_and_a_table_is_not() -> None:
    table = pa.table({"text": ["a", "b"]})
    column: Any = table["text"]
    assert require_unicode(column) == ["a", "b"]
    with pytest.raises(InvalidInputError, match="one column"):
        require_unicode(table)


def test_unit_vectors_have_length_one() -> None:
    assert have_length_one(np.array([[1.0, 0.0], [0.6, 0.8]]))


def test_one_longer_vector_is_enough_to_say_no() -> None:
    assert not have_length_one(np.array([[1.0, 0.0], [0.6, 0.9]]))


def test_half_precision_does_not_change_the_answer() -> None:
    vectors = np.random.default_rng(0).standard_normal((100, 384))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert have_length_one(vectors.astype(np.float16).astype(np.float32))


def _random_vectors(seed: int) -> Embeddings:
    vectors = np.random.default_rng(seed).standard_normal((4, 384))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_sign_bits_do_not_depend_on_last_digits() -> None:
    for seed in range(200):
        vectors = _random_vectors(seed)
        noisy = vectors + 1e-6 * np.random.default_rng(seed + 1).standard_normal(vectors.shape)
        assert sign_bits(noisy.astype(np.float32)) == sign_bits(vectors) == sign_bits(3 * vectors)


def test_sign_bits_tell_models_apart() -> None:
    assert len({sign_bits(_random_vectors(seed)) for seed in range(500)}) == 500
    assert len(sign_bits(_random_vectors(0))) == 8


def test_sign_bits_are_pinned() -> None:
    """They are in the fingerprints of saved veils."""
    assert sign_bits(np.eye(4, 5)) == sign_bits(np.eye(4, 5, dtype=np.float32))
    assert sign_bits(np.eye(2, 5)) == "f30b"
