from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from support.tiny_model import write_tiny_model
from vecveil.core.errors import InvalidInputError
from vecveil.core.model_folders import digest_folder
from vecveil.embedders import SentenceTransformersEmbedder
from vecveil.embedders.sentence_transformers import from_spec


def test_a_folder_is_known_by_its_name_and_the_digest_of_its_files(tiny_model: Path) -> None:
    fingerprint = SentenceTransformersEmbedder(str(tiny_model)).fingerprint
    assert fingerprint.model == "tiny"
    assert fingerprint.revision == f"sha256:{digest_folder(tiny_model)}"
    assert fingerprint.dimensions == 16
    assert fingerprint.normalized


def test_a_copy_elsewhere_has_the_same_fingerprint(tiny_model: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_model, tmp_path / "tiny")
    here, there = SentenceTransformersEmbedder(str(tiny_model)), SentenceTransformersEmbedder(str(copy))
    assert here.fingerprint == there.fingerprint


def test_a_model_without_a_last_normalizing_step_is_not_called_normalized(tmp_path: Path) -> None:
    embedder = SentenceTransformersEmbedder(str(write_tiny_model(tmp_path / "loose", normalize=False)))
    assert not embedder.fingerprint.normalized


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


def _in_memory(folder: Path) -> SentenceTransformer:
    return SentenceTransformer(str(folder), device="cpu")


def test_a_model_in_memory_is_known_by_what_it_computes_with(tiny_model: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_model, tmp_path / "elsewhere")
    mine = SentenceTransformersEmbedder(_in_memory(tiny_model))
    mine.embed(["some texts", "a"])
    assert mine.fingerprint == SentenceTransformersEmbedder(_in_memory(copy)).fingerprint
    assert (mine.fingerprint.model, mine.fingerprint.dimensions) == ("SentenceTransformer", 16)
    assert mine.fingerprint.normalized
    assert mine.pipeline is mine.model


def test_a_model_in_memory_that_was_changed_is_another(tiny_model: Path, tmp_path: Path) -> None:
    known = SentenceTransformersEmbedder(_in_memory(tiny_model)).fingerprint
    other_weights = _in_memory(write_tiny_model(tmp_path / "tiny", seed=1))
    tuned, shorter, prompted, pooled = (_in_memory(tiny_model) for _ in range(4))
    next(tuned.parameters()).data[0, 0] += 1e-4
    shorter.max_seq_length = 8
    prompted.prompts, prompted.default_prompt_name = {"ask": "query: "}, "ask"
    pooling: Any = pooled[1]
    pooled[1] = type(pooling)(16, pooling_mode="max")
    for changed in (other_weights, tuned, shorter, prompted, pooled):
        assert SentenceTransformersEmbedder(changed).fingerprint != known


def test_weights_in_half_precision_are_read(tiny_model: Path) -> None:
    import torch

    half = SentenceTransformersEmbedder(_in_memory(tiny_model).to(torch.bfloat16))
    assert half.embed(["a"]).dtype == np.float32
    assert half.fingerprint != SentenceTransformersEmbedder(_in_memory(tiny_model)).fingerprint


def test_settings_of_loading_are_refused_for_a_model_in_memory(tiny_model: Path) -> None:
    settings: list[dict[str, Any]] = [{"revision": "main"}, {"device": "cpu"}, {"backend": "openvino"}]
    for given in settings:
        with pytest.raises(InvalidInputError, match="got one in memory"):
            SentenceTransformersEmbedder(_in_memory(tiny_model), **given)
