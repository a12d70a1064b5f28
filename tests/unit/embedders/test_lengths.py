from __future__ import annotations

import numpy as np

from vecveil.embedders.lengths import have_length_one


def test_unit_vectors_have_length_one() -> None:
    assert have_length_one(np.array([[1.0, 0.0], [0.6, 0.8]]))


def test_one_longer_vector_is_enough_to_say_no() -> None:
    assert not have_length_one(np.array([[1.0, 0.0], [0.6, 0.9]]))


def test_half_precision_does_not_change_the_answer() -> None:
    vectors = np.random.default_rng(0).standard_normal((100, 384))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert have_length_one(vectors.astype(np.float16).astype(np.float32))
