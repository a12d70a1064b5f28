from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from support.veils import made_veil, rotated_shape, unit_vectors

from vecveil.core.errors import EmbedderMismatchError, InvalidInputError
from vecveil.core.key import Key
from vecveil.shapes import NoiseShape
from vecveil.shapes.filling import filling_for

KEY = Key(bytes(range(32)))
NAMES = [sha256(b"record %d" % row).digest() for row in range(50)]
VECTORS = unit_vectors(50)


def _few_axes() -> NoiseShape:
    variances = np.full(8, 0.7)
    variances[:2] = np.inf, 3.0
    return NoiseShape(variances=variances, axes=rotated_shape().axes, centre=rotated_shape().centre)


ROUND, DENSE = NoiseShape(variances=np.ones(8)), replace(rotated_shape(), variances=np.linspace(0.5, 2.0, 8))
WAYS = {
    "laplace": made_veil(epsilon=30.0, shape=ROUND, mechanism="laplace"),
    "purkayastha": made_veil(epsilon=30.0, shape=ROUND, mechanism="purkayastha"),
    "diagonal": made_veil(epsilon=30.0),
    "rotated": made_veil(epsilon=30.0, shape=DENSE),
    "unreleased": made_veil(epsilon=30.0, shape=rotated_shape()),
    "few axes": made_veil(epsilon=30.0, shape=_few_axes()),
    "filled": replace(made_veil(epsilon=30.0, shape=_few_axes()), filling=filling_for(_few_axes(), VECTORS)),
}
"""A veil for each way that a release can take."""


@pytest.fixture(params=["1", "2", "3"])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", request.param)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("block_rows", [1, 3, 7, 50, 1000])
@pytest.mark.parametrize("way", WAYS)
def test_blocks_and_threads_make_no_difference(monkeypatch: pytest.MonkeyPatch, block_rows: int, way: str) -> None:
    """Blocks are made in memory that earlier ones were made in, and other threads make others at the same time."""
    protection = WAYS[way].protection(key=KEY)
    alone = [protection.release(VECTORS[row : row + 1], names=NAMES[row : row + 1]) for row in range(len(VECTORS))]
    wanted = protection.release(VECTORS, names=NAMES)
    # Matrix products of several rows may round otherwise than those of one.
    np.testing.assert_allclose(np.concatenate(alone), wanted, atol=protection.grid.step)
    monkeypatch.setattr("vecveil.veil.protection.BLOCK_NUMBERS", 8 * block_rows)
    assert protection.release(VECTORS, names=NAMES).tobytes() == wanted.tobytes()


@pytest.mark.usefixtures("threads")
def test_seeded_noise_is_drawn_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    veil = made_veil(epsilon=30.0)
    wanted = veil.perturb(VECTORS, rng=np.random.default_rng(3))
    monkeypatch.setattr("vecveil.veil.protection.BLOCK_NUMBERS", 8)
    np.testing.assert_array_equal(veil.perturb(VECTORS, rng=np.random.default_rng(3)), wanted)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(("fault", "said"), [(np.nan, "NaN or infinite"), (0.0, "zero vector"), (2.0, "length 1")])
def test_the_first_row_at_fault_is_named(monkeypatch: pytest.MonkeyPatch, fault: float, said: str) -> None:
    monkeypatch.setattr("vecveil.veil.protection.BLOCK_NUMBERS", 16)
    broken = VECTORS.copy()
    broken[[17, 40]] *= fault
    with pytest.raises((InvalidInputError, EmbedderMismatchError), match=said) as raised:
        made_veil(epsilon=30.0).protection().release(broken, first_row=100)
    assert "row 117" in str(raised.value)


def test_a_little_off_in_length_is_still_length_one() -> None:
    protection = made_veil(epsilon=30.0).protection()
    for length in (0.991, 1.009):
        assert protection.release(VECTORS * np.float32(length)).shape == VECTORS.shape
    for length in (0.989, 1.011):
        with pytest.raises(EmbedderMismatchError, match="row 0"):
            protection.release(VECTORS * np.float32(length))


def test_no_rows_are_released_as_none() -> None:
    assert made_veil(epsilon=30.0).protection().release(VECTORS[:0]).shape == (0, 8)
