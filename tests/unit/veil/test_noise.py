from __future__ import annotations

import numpy as np
import pytest
from support.veils import made_veil, rotated_shape, unit_vectors

from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.shapes import NoiseShape
from vecveil.veil.noise import KeyedNoise, row_tokens

KEY = Key(bytes(range(32)))
VECTORS = unit_vectors(40)


def _shape(name: str) -> NoiseShape | None:
    return {"mahalanobis": None, "rotated": rotated_shape(), "laplace": NoiseShape(variances=np.ones(8))}.get(
        name, NoiseShape(variances=np.ones(8))
    )


@pytest.mark.parametrize("name", ["mahalanobis", "rotated", "laplace", "purkayastha"])
@pytest.mark.parametrize("grid", ["float32", "float16", "int8"])
def test_a_record_gets_the_same_bytes_in_any_company(name: str, grid: str) -> None:
    mechanism = "mahalanobis" if name == "rotated" else name
    veil = made_veil(epsilon=30.0, shape=_shape(name), mechanism=mechanism)
    whole = veil.perturb(VECTORS, key=KEY, grid=grid)
    for size in (1, 3, 16):
        parts = [veil.perturb(VECTORS[at : at + size], key=KEY, grid=grid) for at in range(0, len(VECTORS), size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert veil.perturb(VECTORS[::-1], key=KEY, grid=grid)[::-1].tobytes() == whole.tobytes()


def test_another_key_veil_budget_vector_or_id_gives_other_noise() -> None:
    veil = made_veil(epsilon=30.0)
    base = veil.perturb(VECTORS, key=KEY)
    ids = [f"note {number}" for number in range(40)]
    changed = VECTORS.copy()
    changed[:, 0] = np.nextafter(changed[:, 0], np.float32(1))
    others = [
        veil.perturb(VECTORS, key=Key.new()),
        made_veil(epsilon=31.0).perturb(VECTORS, key=KEY, epsilon=30.0),
        veil.perturb(VECTORS, key=KEY, epsilon=30.000001),
        veil.perturb(changed, key=KEY),
        veil.perturb(VECTORS, key=KEY, ids=ids),
        veil.perturb(VECTORS, key=KEY, ids=ids[::-1]),
        veil.perturb(VECTORS),
    ]
    for other in others:
        assert not np.isclose(other, base, atol=1e-6).all(axis=1).any()


def test_a_changed_text_under_the_same_id_does_not_show_what_changed() -> None:
    """With noise by id alone, the difference of two releases would be the difference of the clean vectors."""
    veil, ids = made_veil(epsilon=30.0), list(range(40))
    other = unit_vectors(40, seed=7)
    difference = veil.perturb(VECTORS, key=KEY, ids=ids) - veil.perturb(other, key=KEY, ids=ids)
    assert np.linalg.norm(difference - (VECTORS - other), axis=1).min() > 0.01


def test_equal_records_are_equal_without_ids_and_not_with_them() -> None:
    veil, twins = made_veil(epsilon=30.0), np.repeat(unit_vectors(1), 2, axis=0)
    same = veil.perturb(twins, key=KEY)
    np.testing.assert_array_equal(same[0], same[1])
    different = veil.perturb(twins, key=KEY, ids=["a", "b"])
    assert (different[0] != different[1]).any()


def test_a_number_is_the_same_id_as_text_and_not_the_same_as_bytes() -> None:
    veil, alike = made_veil(epsilon=30.0), np.repeat(unit_vectors(1), 3, axis=0)
    released = veil.perturb(alike, key=KEY, ids=[7, "7", b"7"])
    np.testing.assert_array_equal(released[0], released[1])
    assert (released[0] != released[2]).any()


def test_ids_must_fit_the_records() -> None:
    veil = made_veil(epsilon=30.0)
    with pytest.raises(InvalidInputError, match="one id per record, got 3 ids for 40 records"):
        veil.perturb(VECTORS, key=KEY, ids=["a", "b", "c"])
    with pytest.raises(InvalidInputError, match="row 1 has no id, but float"):
        veil.perturb(VECTORS[:2], key=KEY, ids=["a", 1.5])


def test_a_key_and_a_seeded_generator_contradict_each_other() -> None:
    with pytest.raises(InvalidInputError, match="got both"):
        made_veil(epsilon=30.0).perturb(VECTORS, key=KEY, rng=np.random.default_rng(0))


def test_keyed_noise_is_pinned() -> None:
    """Other bytes here mean that every keyed record of every user is released a second time."""
    mechanism = LaplaceMechanism(epsilon=30.0, dimensions=8)
    draws = KeyedNoise(key=KEY, veil="veil", epsilon=30.0).draws(mechanism, [bytes(range(32))])
    # To the last bit: compiled loops round alike on every processor.
    assert draws.normals[0, :3].tolist() == [-1.0312986813875125, -0.4512394848774149, 0.18958157139310983]
    assert draws.amounts[0] == 0.07481448437686421


def test_tokens_name_the_noise_and_nothing_else() -> None:
    noise = KeyedNoise(key=KEY, veil="veil", epsilon=30.0)
    assert noise.tokens([b"a", b"b"]) == noise.tokens([b"a"]) + noise.tokens([b"b"])
    elsewhere = KeyedNoise(key=KEY, veil="veil", epsilon=31.0)
    assert len({*noise.tokens([b"a", b"b"]), *elsewhere.tokens([b"a", b"b"])}) == 4
    assert {len(token) for token in noise.tokens([b"a"])} == {16}


def test_rows_of_a_run_have_names_of_their_own_that_do_not_depend_on_the_batch() -> None:
    run, other = "00" * 16, "01" * 16
    assert row_tokens(run, 0, 10) == row_tokens(run, 0, 4) + row_tokens(run, 4, 6)
    assert len({*row_tokens(run, 0, 10), *row_tokens(other, 0, 10)}) == 20


def test_noise_shows_neither_the_key_nor_what_is_derived_from_it() -> None:
    noise = KeyedNoise(key=KEY, veil="veil", epsilon=30.0)
    assert KEY.secret.hex() not in repr(noise)
    assert repr(KEY.secret) not in repr(noise)
