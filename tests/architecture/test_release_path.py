"""There is one way out: nothing but Release calls a mechanism's sampler on the way to a release."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors
from vecveil.audit.defenses import Veiled
from vecveil.concepts import Passage
from vecveil.core.arrays import Embeddings
from vecveil.integrations.sklearn import VeilTransformer
from vecveil.mechanisms import MECHANISMS
from vecveil.veil import Guard, protect_file
from vecveil.veil.release import Release

ROOT = Path(__file__).parents[2]
SAMPLERS = {"perturb", "spherical_noise", "draw_gammas", "FreshRows", "KeyedRows", "SeededRows"}
"""Whatever draws noise, or gives a mechanism its random numbers."""

ALLOWED = {
    "src/vecveil/veil/release.py",
    "src/vecveil/veil/noise.py",
    # Releases what a veil holds of the texts that it was learned on, and no record.
    "src/vecveil/accounting/gaussian.py",
    # Time `Veil.perturb`, which is a release.
    "benchmarks/growth.py",
    "benchmarks/noise.py",
    # Draws what it gives.
    "experiments/veil/noise_picture.py",
    # Times noise alone, and releases nothing.
    "reproduction/overhead.py",
}
FOLDERS = ("src/vecveil/core", "src/vecveil/mechanisms", "src/vecveil/testing")
"""Where noise is made, and where it is tested."""

SCANNED = ("src/vecveil", "benchmarks", "examples", "experiments", "reproduction")


def list_uses(source: str) -> Iterator[str]:
    """Yield the names of all methods in a program, called or handed on, and of all else that it calls."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            yield node.attr
            if isinstance(node.value, ast.Name):
                yield node.value.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def test_only_the_release_calls_a_sampler() -> None:
    files = [path for folder in SCANNED for path in (ROOT / folder).rglob("*.py")]
    names = {path.relative_to(ROOT).as_posix(): {*list_uses(path.read_text(encoding="utf-8"))} for path in files}
    assert {name.partition("/")[0] for name in names} == {folder.partition("/")[0] for folder in SCANNED}
    users = {name for name, used in names.items() if used & SAMPLERS and not name.startswith(FOLDERS)}
    # Whoever no longer calls one is no longer allowed to.
    assert users == ALLOWED


@pytest.mark.parametrize(
    "source",
    [
        "noisy = mechanism.perturb(vectors, rng)",
        "noise = partial(mechanism.perturb, vectors)",
        "rng = FreshRows(3)",
        "rng = SeededRows.of(1)",
        "z = sampling.spherical_noise(rows=3)",
    ],
)
def test_a_sampler_is_seen_however_it_is_called(source: str) -> None:
    assert {*list_uses(source)} & SAMPLERS


def test_the_words_of_a_docstring_are_no_use_of_a_sampler() -> None:
    assert not {*list_uses('"""mechanism.perturb(vectors)"""\nveil.protect(texts)')} & SAMPLERS


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count rows that come out of a release, and fail where a mechanism is used outside of one."""
    rows: list[int] = []
    inside: list[bool] = []
    protect = Release.protect_vectors

    def counted(self: Release, vectors: Embeddings, **settings: Any) -> Any:
        inside.append(True)
        try:
            protected = protect(self, vectors, **settings)
        finally:
            inside.pop()
        rows.append(len(protected))
        return protected

    monkeypatch.setattr(Release, "protect_vectors", counted)
    for name in MECHANISMS.names():
        kind: Any = MECHANISMS.load(name)
        perturb = kind.perturb

        def guarded(self: Any, *arguments: Any, perturb: Callable[..., Any] = perturb) -> Any:
            assert inside, "a mechanism was used outside of a release"
            return perturb(self, *arguments)

        monkeypatch.setattr(kind, "perturb", guarded)
    return rows


def test_a_mechanism_outside_of_a_release_is_noticed(releases: list[int]) -> None:
    with pytest.raises(AssertionError, match="outside of a release"):
        made_veil(epsilon=50.0).mechanism_at(50.0).perturb(unit_vectors(2), None)  # type: ignore[arg-type]
    assert releases == []


def test_every_way_in_goes_through_the_release(releases: list[int], tmp_path: Path) -> None:
    veil, texts, vectors = made_veil(epsilon=500.0), ["one text", "another text"], unit_vectors(3)
    guard = Guard(veil, embedder=WordEmbedder())
    pq.write_table(pa.table({"text": texts}), tmp_path / "texts.parquet")
    passages = [Passage(text) for text in ("a", "b", "c")]
    veil.protect(texts, embedder=WordEmbedder())
    veil.perturb(vectors)
    guard.protect_texts(texts)
    guard.protect_vectors(vectors)
    protect_file(veil, tmp_path / "texts.parquet", tmp_path / "out.parquet", embedder=WordEmbedder())
    VeilTransformer(guard).fit_transform(vectors)
    Veiled(veil=veil, epsilon=500.0, grid="int8").protect(passages, vectors, np.random.default_rng(0), times=2)
    assert releases == [2, 3, 2, 3, 2, 3, 3, 3]
