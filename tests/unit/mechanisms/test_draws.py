from __future__ import annotations

import numpy as np
import pytest
from randomgen import ChaCha

from vecveil.core.randomness import keyed_generators, secure_generator
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.mechanisms.draws import Draws, fresh_draws, keyed_draws

KEYS = [bytes([number]) * 31 + b"\x01" for number in range(1, 40)]


def _mechanism(name: str) -> Mechanism:
    return MECHANISMS.load(name).for_shape(epsilon=5.0, variances=np.ones(6), axes=None, centre=None)


def test_a_keyed_generator_is_the_cipher_with_that_key() -> None:
    for key, rng in zip(KEYS, keyed_generators(KEYS), strict=True):
        cipher = np.random.Generator(ChaCha(key=int.from_bytes(key, "little"), rounds=20))
        np.testing.assert_array_equal(rng.standard_normal(50), cipher.standard_normal(50))
        assert rng.gamma(7.0) == cipher.gamma(7.0)
        assert rng.random() == cipher.random()


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_keyed_draws_depend_on_the_key_alone(name: str) -> None:
    mechanism = _mechanism(name)
    whole, turned = keyed_draws(mechanism, KEYS), keyed_draws(mechanism, KEYS[::-1])
    np.testing.assert_array_equal(whole.normals, turned.normals[::-1])
    np.testing.assert_array_equal(whole.amounts, turned.amounts[::-1])
    for row, key in enumerate(KEYS):
        single = keyed_draws(mechanism, [key])
        np.testing.assert_array_equal(single.normals[0], whole.normals[row])
        assert single.amounts[0] == whole.amounts[row]
    assert len(np.unique(whole.amounts)) == len(np.unique(whole.normals[:, 0])) == len(KEYS)


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_perturbing_is_releasing_with_fresh_draws(name: str) -> None:
    mechanism = _mechanism(name)
    vectors = np.random.default_rng(0).standard_normal((9, 6))
    draws = fresh_draws(mechanism, 9, np.random.default_rng(1))
    np.testing.assert_array_equal(
        mechanism.release(vectors, draws), mechanism.perturb(vectors, np.random.default_rng(1))
    )


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_a_row_does_not_depend_on_the_rows_beside_it(name: str) -> None:
    mechanism = _mechanism(name)
    vectors = np.random.default_rng(0).standard_normal((len(KEYS), 6))
    whole = mechanism.release(vectors, keyed_draws(mechanism, KEYS))
    for row, key in enumerate(KEYS):
        alone = mechanism.release(vectors[row : row + 1], keyed_draws(mechanism, [key]))
        np.testing.assert_allclose(alone[0], whole[row], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", sorted(MECHANISMS.names()))
def test_a_release_is_made_in_double_precision(name: str) -> None:
    mechanism = _mechanism(name)
    vectors = np.ones((3, 6), dtype=np.float32)
    assert mechanism.release(vectors, fresh_draws(mechanism, 3, secure_generator())).dtype == np.float64


def test_nothing_is_drawn_for_no_rows() -> None:
    draws = keyed_draws(_mechanism("laplace"), [])
    assert isinstance(draws, Draws)
    assert draws.normals.shape == (0, 6)
