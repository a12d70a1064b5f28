"""The models that come as packages keep the contract of embedders, with their real weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vecveil.embedders import resolve_embedder
from vecveil.testing.embedders import SENTENCES, check_embedder


@pytest.mark.parametrize("name", ["minilm", "mpnet"])
def test_a_packaged_model_keeps_the_contract(name: str, tmp_path: Path) -> None:
    embedder = resolve_embedder(name)
    check_embedder(embedder)
    cached = resolve_embedder(embedder, cache=tmp_path / "cache")
    check_embedder(cached)
    np.testing.assert_allclose(cached.embed(SENTENCES), embedder.embed(SENTENCES), atol=1e-5)
