from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.embedders import SentenceTransformersEmbedder
from vecveil.embedders.sentence_model import SentenceModel, load_sentence_model


def _load(folder: Path, version: str) -> SentenceModel:
    return load_sentence_model(folder, name=folder.name, version=version, device="cpu")


def test_a_model_is_loaded_once_even_by_threads_that_ask_at_once(tiny_model: Path) -> None:
    load_sentence_model.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: SentenceTransformersEmbedder(str(tiny_model)).pipeline, range(4)))
    assert all(model is models[0] for model in models)


def test_a_changed_folder_is_loaded_again(tiny_model: Path) -> None:
    assert _load(tiny_model, "first") is not _load(tiny_model, "second")


def test_loading_prints_nothing(tiny_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _load(tiny_model, "printing")
    assert capfd.readouterr() == ("", "")


def test_loading_leaves_the_progress_bars_of_others_as_they_were(tiny_model: Path) -> None:
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled
    from transformers.utils import logging

    before = logging.is_progress_bar_enabled(), are_progress_bars_disabled()
    _load(tiny_model, "bars")
    assert (logging.is_progress_bar_enabled(), are_progress_bars_disabled()) == before == (True, False)


def test_bars_that_the_environment_decides_on_raise_no_warning(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub.utils.tqdm import disable_progress_bars

    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "0")
    monkeypatch.setattr(sys.modules[disable_progress_bars.__module__], "HF_HUB_DISABLE_PROGRESS_BARS", False)
    assert _load(tiny_model, "environment").dimensions == 16


def test_vectors_carry_no_gradient_and_training_mode_is_off(tiny_model: Path) -> None:
    model = _load(tiny_model, "gradient")
    model.embed(["a"], batch_size=1)
    assert not model.pipeline.training
    assert all(parameter.grad is None for parameter in model.pipeline.parameters())


def test_a_folder_that_is_no_model_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InvalidInputError, match=f"cannot load the model '{tmp_path.name}': .+") as caught:
        _load(tmp_path, "empty")
    assert "\n" not in str(caught.value)


def test_cut_off_weights_are_an_input_error(tiny_model: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_model, tmp_path / "cut"))
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(InvalidInputError, match="cannot load the model 'cut'"):
        _load(folder, "cut")


def test_a_missing_library_names_its_extra(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"sentence-transformers.*vecveil\[local\]"):
        _load(tiny_model, "missing library")
