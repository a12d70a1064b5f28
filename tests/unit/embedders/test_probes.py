from __future__ import annotations

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.embedders.probes import have_length_one, sign_bits


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
