from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from support.tiny_model import write_tiny_model

from vecveil.core.errors import InvalidInputError
from vecveil.embedders import SentenceTransformersEmbedder
from vecveil.embedders.sentence_transformers import folder_digest, from_spec


def test_a_folder_is_known_by_its_name_and_the_digest_of_its_files(tiny_model: Path) -> None:
    fingerprint = SentenceTransformersEmbedder(str(tiny_model)).fingerprint
    assert fingerprint.model == "tiny"
    assert fingerprint.revision == f"sha256:{folder_digest(tiny_model)}"
    assert fingerprint.dimensions == 16
    assert fingerprint.normalised


def test_a_copy_elsewhere_has_the_same_fingerprint(tiny_model: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_model, tmp_path / "tiny")
    here, there = SentenceTransformersEmbedder(str(tiny_model)), SentenceTransformersEmbedder(str(copy))
    assert here.fingerprint == there.fingerprint


def test_hidden_files_and_readmes_do_not_count(tiny_model: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "tiny"))
    (copy / "README.md").write_text("new")
    (copy / ".gitattributes").write_text("new")
    (copy / ".git").mkdir()
    (copy / ".git" / "config").write_text("new")
    assert folder_digest(copy) == folder_digest(tiny_model)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_every_other_file_counts(tiny_model: Path, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "tiny"))
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content + b" ")
    assert folder_digest(copy) != folder_digest(tiny_model)


def test_a_renamed_file_counts(tiny_model: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "tiny"))
    (copy / "tokenizer.json").rename(copy / "tokenizer2.json")
    assert folder_digest(copy) != folder_digest(tiny_model)


def test_a_model_without_a_last_normalising_step_is_not_called_normalised(tmp_path: Path) -> None:
    embedder = SentenceTransformersEmbedder(str(write_tiny_model(tmp_path / "loose", normalise=False)))
    assert not embedder.fingerprint.normalised


def test_two_embedders_of_one_model_load_it_once(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = SentenceTransformersEmbedder(str(tiny_model)).embed(["a"])

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("loaded twice")

    monkeypatch.setattr("sentence_transformers.SentenceTransformer.__init__", refuse)
    np.testing.assert_array_equal(SentenceTransformersEmbedder(str(tiny_model), batch_size=3).embed(["a"]), first)


def test_weights_that_change_in_place_are_seen_by_the_next_embedder(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "model", seed=1)
    before = SentenceTransformersEmbedder(str(folder))
    old = before.embed(["a"])
    write_tiny_model(folder, seed=2)
    after = SentenceTransformersEmbedder(str(folder))
    assert before.fingerprint != after.fingerprint
    assert not np.allclose(old, after.embed(["a"]))


def test_an_empty_text_is_embedded(tiny_model: Path) -> None:
    assert SentenceTransformersEmbedder(str(tiny_model)).embed([""]).shape == (1, 16)


def test_the_batch_size_does_not_change_vectors(tiny_model: Path) -> None:
    texts = [f"text {'x' * number}" for number in range(20)]
    small = SentenceTransformersEmbedder(str(tiny_model), batch_size=1).embed(texts)
    large = SentenceTransformersEmbedder(str(tiny_model), batch_size=64).embed(texts)
    np.testing.assert_allclose(small, large, atol=1e-5)


def test_settings_are_checked_at_birth(tiny_model: Path) -> None:
    with pytest.raises(InvalidInputError, match="batch_size"):
        SentenceTransformersEmbedder("acme/tiny", batch_size=0)
    with pytest.raises(InvalidInputError, match="model"):
        SentenceTransformersEmbedder("")
    with pytest.raises(InvalidInputError, match="a folder has no revisions"):
        SentenceTransformersEmbedder(str(tiny_model), revision="main")


def test_specs_name_folders_models_and_revisions(tmp_path: Path) -> None:
    odd = tmp_path / "a@b"
    odd.mkdir()
    assert from_spec(str(odd)) == SentenceTransformersEmbedder(str(odd))
    assert from_spec("acme/tiny") == SentenceTransformersEmbedder("acme/tiny")
    assert from_spec("acme/tiny@refs/pr/1") == SentenceTransformersEmbedder("acme/tiny", revision="refs/pr/1")


@pytest.mark.parametrize("path", ["/no/such/folder", "./no-such-folder", "no/such/folder"])
def test_a_folder_that_is_not_there_is_said_to_be_missing(path: str) -> None:
    with pytest.raises(InvalidInputError, match=f"{path}.*neither a folder nor a name on a hub"):
        _ = SentenceTransformersEmbedder(path).fingerprint
