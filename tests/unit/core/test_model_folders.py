from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.model_folders import digest_folder, find_package, require_digest, require_whole


@pytest.fixture
def tiny_model(tmp_path: Path) -> Path:
    """The files of a model, though nothing that can be loaded."""
    folder = tmp_path / "model"
    for name in ("model.safetensors", "tokenizer.json", "config.json", "1_Pooling/config.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{{}} {name}")
    (folder / "modules.json").write_text(json.dumps([{"path": ""}, {"path": "1_Pooling"}]))
    return folder


def test_hidden_files_and_readmes_do_not_count(tiny_model: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "tiny"))
    (copy / "README.md").write_text("new")
    (copy / ".gitattributes").write_text("new")
    (copy / ".git").mkdir()
    (copy / ".git" / "config").write_text("new")
    assert digest_folder(copy) == digest_folder(tiny_model)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_every_other_file_counts(tiny_model: Path, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "tiny"))
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content + b" ")
    assert digest_folder(copy) != digest_folder(tiny_model)


def test_weights_for_other_engines_do_not_count(tiny_model: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "tiny"))
    (copy / "onnx").mkdir()
    (copy / "onnx" / "model.onnx").write_text("new")
    assert digest_folder(copy) == digest_folder(tiny_model)


def test_a_file_is_read_for_its_digest_once(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = digest_folder(tiny_model)
    monkeypatch.setattr("vecveil.core.model_folders.file_digest", lambda path: pytest.fail(f"read {path}"))
    assert digest_folder(tiny_model) == first


def test_a_renamed_file_counts(tiny_model: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "tiny"))
    (copy / "tokenizer.json").rename(copy / "tokenizer2.json")
    assert digest_folder(copy) != digest_folder(tiny_model)


def test_a_package_is_found_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mirrored_model").mkdir()
    (tmp_path / "mirrored_model" / "__init__.py").write_text("raise SystemExit('it ran')")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_package("mirrored_model") == tmp_path / "mirrored_model"
    assert "mirrored_model" not in sys.modules
    assert find_package("no_such_package") is None
    assert find_package("mirrored_model.inner") is None
    assert find_package("") is None


def test_a_folder_with_another_digest_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    digest = digest_folder(tiny_model)
    assert require_digest(tiny_model, digest, name="toy") == tiny_model
    (tiny_model / "1_Pooling" / "config.json").write_text("{}")
    with pytest.raises(ArtifactError, match="is not toy: the SHA-256 of its files is"):
        require_digest(tiny_model, digest, name="toy")
    with pytest.raises(ArtifactError, match="the package of toy holds no model"):
        require_digest(tmp_path / "missing", digest, name="toy")


def test_pickled_weights_are_refused_unless_others_stand_beside_them(tiny_model: Path) -> None:
    (tiny_model / "pytorch_model.bin").write_bytes(b"x")
    require_whole(tiny_model)
    (tiny_model / "1_Pooling" / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(InvalidInputError, match=r"1_Pooling/pytorch_model\.bin holds pickled weights"):
        require_whole(tiny_model)


@pytest.mark.parametrize("place", ["../other", ".hidden", "/etc", "onnx", "a/../../b", "my_pytorch_model"])
def test_modules_outside_of_what_is_digested_are_refused(tiny_model: Path, place: str) -> None:
    (tiny_model / "modules.json").write_text(json.dumps([{"path": ""}, {"path": place}]))
    with pytest.raises(InvalidInputError, match=r"modules\.json names the folder"):
        require_whole(tiny_model)


def test_an_adapter_is_no_whole_model(tiny_model: Path) -> None:
    (tiny_model / "adapter_config.json").write_text("{}")
    with pytest.raises(InvalidInputError, match="adapter for another model"):
        require_whole(tiny_model)
