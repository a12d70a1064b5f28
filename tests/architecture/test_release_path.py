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
    # Times noise alone, and releases nothing.
    "reproduction/overhead.py",
}
FOLDERS = ("src/vecveil/core", "src/vecveil/mechanisms", "src/vecveil/testing")
"""Where noise is made, and where it is tested."""


def calls(path: Path) -> Iterator[str]:
    """Yield the names of everything that a file calls, and of classes whose methods it calls."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute):
                yield called.attr
                if isinstance(called.value, ast.Name):
                    yield called.value.id
            elif isinstance(called, ast.Name):
                yield called.id


def test_only_the_release_calls_a_sampler() -> None:
    files = [path for folder in ("src/vecveil", "reproduction", "examples") for path in (ROOT / folder).rglob("*.py")]
    names = {path.relative_to(ROOT).as_posix(): set(calls(path)) for path in files}
    users = {name for name, called in names.items() if called & SAMPLERS and not name.startswith(FOLDERS)}
    assert users - ALLOWED == set()
    assert "src/vecveil/veil/release.py" in users


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
