from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.key import Key
from vecveil.core.randomness import START_BYTES
from vecveil.veil.noise import FreshNoise, KeyedNoise, SeededNoise, token_of

KEY = Key(bytes(range(32)))
NOISE = KeyedNoise(key=KEY, veil="veil", epsilon=30.0)


def _normals(noise: KeyedNoise, *noise_keys: bytes) -> list[float]:
    numbers: list[float] = noise.rows(noise.derive(noise_keys)).normals(4).ravel().tolist()
    return numbers


def test_keyed_noise_is_pinned() -> None:
    """Other bytes here mean that every keyed record of every user is released a second time."""
    random = NOISE.rows(NOISE.derive([bytes(range(32))]))
    # Logarithm and tangent may end in other last bits on other processors.
    normals = [-1.1086048488434819, -0.02512954802768062, 0.4150884134386911]
    assert random.normals(3)[0].tolist() == pytest.approx(normals, rel=1e-13)
    assert random.uniforms(2)[0].tolist() == [0.5997733882773566, 0.7543318770504384]


def test_a_record_gets_the_same_numbers_beside_any_others() -> None:
    assert _normals(NOISE, b"a", b"b", b"a") == _normals(NOISE, b"a") + _normals(NOISE, b"b") + _normals(NOISE, b"a")


@pytest.mark.parametrize(
    "other",
    [
        KeyedNoise(key=Key(bytes(range(1, 33))), veil="veil", epsilon=30.0),
        KeyedNoise(key=KEY, veil="other", epsilon=30.0),
        KeyedNoise(key=KEY, veil="veil", epsilon=np.nextafter(30.0, 31.0)),
    ],
    ids=["key", "veil", "budget"],
)
def test_another_key_veil_or_budget_shares_nothing(other: KeyedNoise) -> None:
    assert not {*_normals(NOISE, b"a", b"b")} & {*_normals(other, b"a", b"b")}
    assert not {*NOISE.derive([b"a", b"b"])} & {*other.derive([b"a", b"b"])}


def test_what_names_a_release_in_a_ledger_is_no_part_of_what_makes_its_noise() -> None:
    (name,) = NOISE.derive([b"a"])
    changed = name[:START_BYTES] + bytes(16)
    assert np.array_equal(NOISE.rows([changed]).normals(4), NOISE.rows([name]).normals(4))
    assert token_of(changed, b"released") != token_of(name, b"released")


def test_a_token_tells_what_was_released_under_which_name() -> None:
    names = NOISE.derive([b"a", b"b"])
    tokens = [token_of(name, released) for name in names for released in (b"1", b"2")]
    assert len({*tokens}) == 4
    assert {len(token) for token in tokens} == {16}
    assert token_of(names[0], b"1") == tokens[0]


def test_the_kinds_of_noise_tell_themselves_apart() -> None:
    kinds = [FreshNoise(), SeededNoise(np.random.default_rng(0)), NOISE]
    assert [noise.kind for noise in kinds] == ["fresh", "seeded", "keyed"]
    assert "not private" in SeededNoise.label
    assert {len(noise.rows([b"x" * 32] * 3)) for noise in kinds} == {3}


def test_fresh_noise_never_comes_twice_and_seeded_noise_does() -> None:
    first, second = (FreshNoise().rows([b""] * 4).normals(8) for _ in range(2))
    assert len({*first.ravel().tolist(), *second.ravel().tolist()}) == 64
    seeded = [SeededNoise(np.random.default_rng(5)).rows([b""] * 4).normals(8) for _ in range(2)]
    assert np.array_equal(*seeded)


def test_noise_shows_neither_the_key_nor_what_is_derived_from_it() -> None:
    for secret in (KEY.secret, NOISE._names, NOISE._cipher):
        assert secret.hex() not in repr(NOISE)
        assert repr(secret) not in repr(NOISE)
