from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpmath
import numba
import numpy as np
import pytest
from numba import types

from vecveil.core import compiled as compiling
from vecveil.core.compiled import NUMBER, compiled, kept_in, read, written
from vecveil.core.loops import _log, fill_grid, fill_normals, first_of_other_length, move, turn

RNG = np.random.default_rng(0)
WORDS = RNG.integers(0, 2**64, (6, 200), dtype=np.uint64)
ODD = np.array([0, 1 << 12, 1 << 63, (1 << 63) - (1 << 12), 2**64 - 1], dtype=np.uint64)


def _exact(words: np.ndarray) -> np.ndarray:
    """The method of Box and Muller with sixty digits, on one row."""
    half = len(words) // 2
    found = []
    with mpmath.workdps(60):
        for distance, angle in zip(words[:half], words[half:], strict=True):
            uniform, turns = (mpmath.mpf(2 * (int(word) >> 13) + 1) / 2**52 for word in (distance, angle))
            radius = mpmath.sqrt(-2 * mpmath.log(1 - uniform))
            # The angle is counted from the other side.
            found.append([float(radius * one(2 * turns)) for one in (mpmath.cospi, mpmath.sinpi)])
    return np.array(found).T.ravel()


def test_normals_are_right_to_the_last_places() -> None:
    normals, none = np.empty((6, 200)), np.empty((6, 0))
    fill_normals(WORDS, normals, none)
    exact = np.stack([_exact(row) for row in WORDS])
    np.testing.assert_allclose(normals, exact, rtol=0, atol=2e-14)


def test_the_outermost_words_are_right_too() -> None:
    pairs = np.array([[one, other] for one in ODD for other in ODD], dtype=np.uint64)
    normals, none = np.empty((len(pairs), 2)), np.empty((len(pairs), 0))
    fill_normals(pairs, normals, none)
    np.testing.assert_allclose(normals, np.stack([_exact(row) for row in pairs]), rtol=0, atol=2e-14)


@pytest.mark.parametrize("width", [0, 1, 7, 50, 199])
def test_a_normal_does_not_depend_on_how_many_are_made(width: int) -> None:
    """Compilers make the first ones side by side and the last ones one by one: both must be the same numbers."""
    whole, none = np.empty((6, 200)), np.empty((6, 0))
    fill_normals(WORDS, whole, none)
    left = (width + 1) // 2
    normals, spare = np.full((6, width), np.nan), np.full((6, 100 - left), np.nan)
    fill_normals(WORDS, normals, spare)
    np.testing.assert_array_equal(np.hstack([normals[:, :left], spare]), whole[:, :100])
    np.testing.assert_array_equal(normals[:, left:], whole[:, 100 : 100 + width - left])


def test_logarithms_are_right_to_some_units_in_the_last_place() -> None:
    @numba.njit
    def logs(numbers: np.ndarray) -> np.ndarray:
        found = np.empty_like(numbers)
        for place in range(len(numbers)):
            found[place] = _log(numbers[place])
        return found

    edges = [2.0**-52, 0.5, np.sqrt(0.5), np.nextafter(np.sqrt(0.5), 0), 1 - 2.0**-53, 1.0, 1 + 2.0**-52, 2.0, 1e-90]
    numbers = np.concatenate([edges, RNG.random(500), RNG.normal(1, 1e-3, 500), RNG.lognormal(0, 5, 500)])
    with mpmath.workdps(60):
        exact = np.array([float(mpmath.log(mpmath.mpf(float(number)))) for number in numbers])
    np.testing.assert_allclose(logs(numbers), exact, rtol=1e-15, atol=0)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_moving_is_what_numpy_does_to_the_last_bit(kind: type) -> None:
    vectors, normals = RNG.standard_normal((5, 33)).astype(kind), RNG.standard_normal((5, 36))
    amounts, deviations = RNG.random(5), RNG.random(33)
    moved = np.empty((5, 33))
    move(vectors, normals, amounts, deviations, moved)
    np.testing.assert_array_equal(moved, normals[:, :33] * amounts[:, None] * deviations + vectors)


def test_turning_keeps_unit_length_and_gives_the_angle() -> None:
    vectors, normals, angles = RNG.standard_normal((40, 5)) * 3, RNG.standard_normal((40, 5)), RNG.uniform(0, 3, 40)
    normals[0] = vectors[0] + 1e-9 * normals[0]
    turned, before = normals.copy(), normals.copy()
    turn(turned, angles, vectors)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), 1, rtol=1e-7)
    cosines = (turned * vectors).sum(axis=1) / np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(cosines, np.cos(angles), atol=1e-7)
    # In the plane of the two, on the side of the normals.
    for row in range(40):
        assert np.linalg.matrix_rank(np.stack([turned[row], vectors[row], before[row]]), tol=1e-6) <= 2
    assert ((turned - np.cos(angles)[:, None] * vectors / np.linalg.norm(vectors, axis=1)[:, None]) * before).sum() > 0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("aside", [1.0, 0.04, 0.033, 0.031, 0.01, 1e-4])
def test_turning_is_the_same_where_normals_hardly_point_aside(kind: type, aside: float) -> None:
    """On both sides of where it goes another way: a thousandth of the normals' square."""
    vectors, angles = RNG.standard_normal((6, 50)).astype(kind), RNG.uniform(0, 3, 6)
    units = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    sideways = RNG.standard_normal((6, 50))
    sideways -= (sideways * units).sum(axis=1, keepdims=True) * units
    sideways /= np.linalg.norm(sideways, axis=1, keepdims=True)
    turned = 7 * (units + aside * sideways)
    turn(turned, angles, vectors)
    expected = np.cos(angles)[:, None] * units + np.sin(angles)[:, None] * sideways
    np.testing.assert_allclose(turned, expected, atol=1e-11)


def test_what_is_no_number_is_none_on_the_grid_either_and_what_is_infinite_is_at_its_edge() -> None:
    released = np.zeros(4, dtype=np.float32)
    fill_grid(np.array([np.nan, np.inf, -np.inf, 0.3]), 1.5 * 2**52, 1.5 * 2**52 - 8, 1.5 * 2**52 + 8, released)
    np.testing.assert_array_equal(released, [np.nan, 8, -8, 0])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("wrong", [0.5, np.nan, np.inf, -np.inf, 1e30])
def test_the_first_row_of_another_length_is_found(kind: type, wrong: float) -> None:
    vectors = np.eye(6, dtype=kind)
    assert first_of_other_length(vectors, 0.02) == -1
    vectors[4, 4], vectors[5, 5] = wrong, 7
    assert first_of_other_length(vectors, 0.02) == 4
    assert first_of_other_length(vectors[:0], 0.02) == -1


@pytest.mark.parametrize("size", [1e160, 1e-160, 1e308, 1e-300])
def test_turning_huge_and_tiny_vectors_is_turning_others(size: float) -> None:
    vectors, normals, angles = RNG.uniform(-1, 1, (5, 9)), RNG.standard_normal((5, 9)), RNG.uniform(0, 3, 5)
    plain, other = normals.copy(), normals.copy()
    turn(plain, angles, vectors)
    turn(other, angles, vectors * size)
    np.testing.assert_allclose(other, plain, atol=1e-14)


@pytest.mark.parametrize("error", [RuntimeError("cannot cache function"), OSError(28, "No space left on device")])
def test_a_loop_that_can_not_be_kept_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    monkeypatch.setattr(compiling, "kept_in", lambda _: tmp_path / "loops")
    real, asked = numba.njit, []

    def njit(signatures: list, *, cache: bool = False, **options: object) -> object:
        asked.append(cache)
        if cache:
            raise error
        return real(signatures, **options)

    monkeypatch.setattr(compiling.numba, "njit", njit)

    @compiled(types.void(read(NUMBER, 1), written(NUMBER, 1)))
    def doubled(numbers: np.ndarray, found: np.ndarray) -> None:
        for place in range(len(numbers)):
            found[place] = 2 * numbers[place]

    found = np.empty(2)
    doubled(np.array([1.0, 2.0]), found)
    assert asked == [True, False]
    np.testing.assert_array_equal(found, [2, 4])


SOURCE = Path(compiling.__file__).with_name("loops.py")
CODE = "import numpy as np; from vecveil.core.loops import first_of_other_length as f; print(f(np.eye(3), 0.1))"


def _run(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False)


def test_loops_are_kept_where_one_says_and_made_again_if_that_is_damaged(tmp_path: Path) -> None:
    done = _run(NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "-1\n", done.stderr
    kept = {path.name.split(".")[1].split("-")[0] for path in tmp_path.rglob("loops.*.nbi")}
    assert {"fill_normals", "move", "first_of_other_length"} <= kept
    for path in tmp_path.rglob("loops.move*.nb?"):
        path.write_bytes(path.read_bytes()[:20])
    assert _run(NUMBA_CACHE_DIR=str(tmp_path)).stdout == "-1\n"
    # Nothing that was damaged is left, and the next one keeps them again.
    assert all(path.stat().st_size > 20 for path in tmp_path.rglob("*.nb?"))


def test_another_state_of_the_loops_is_kept_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the same place, a write that was cut short would leave code of the one under the name of the other."""
    monkeypatch.setattr(compiling.SETTINGS, "CACHE_DIR", str(tmp_path))
    one = kept_in.__wrapped__(SOURCE)
    monkeypatch.setattr(compiling.numba, "__version__", "another")
    assert one is not None
    assert one.is_dir()
    assert kept_in.__wrapped__(SOURCE) not in (one, None)


def test_two_threads_may_load_loops_of_two_files(tmp_path: Path) -> None:
    """Numba keeps its code where a setting of the whole process says."""
    code = """
import threading
from importlib import import_module
from numba.core import config
names = ("vecveil.core.loops", "vecveil.core.blake2s", "vecveil.shapes.gate_loops")
threads = [threading.Thread(target=import_module, args=[name]) for name in names]
before = config.CACHE_DIR
for thread in threads: thread.start()
for thread in threads: thread.join()
print(config.CACHE_DIR == before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr
    folders = list(tmp_path.iterdir())
    assert len(folders) == 3
    assert all(path.parts[-3] in {folder.name for folder in folders} for path in tmp_path.rglob("*.nbi"))


def test_loops_of_another_file_are_kept_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiling.SETTINGS, "CACHE_DIR", str(tmp_path))
    assert kept_in.__wrapped__(SOURCE) != kept_in.__wrapped__(SOURCE.with_name("blake2s.py"))


def test_loops_are_kept_nowhere_if_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "mkdir", refused)
    assert kept_in.__wrapped__(SOURCE) is None


def test_it_is_said_if_nothing_may_be_compiled() -> None:
    done = _run(NUMBA_DISABLE_JIT="1")
    assert done.returncode == 1
    assert "NUMBA_DISABLE_JIT is set" in done.stderr.splitlines()[-1]
