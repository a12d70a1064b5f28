from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.core.model_folders import (
    Snapshot,
    digest_folder,
    find_package,
    find_snapshot,
    require_digest,
    require_whole,
)


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


COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Answer:
    """What errors of the hub's library want to be made of."""

    headers: dict[str, str] = {}  # noqa: RUF012
    request = None


def refuse(error: Exception) -> Callable[..., Any]:
    def call(*_: object, **__: object) -> None:
        raise error

    return call


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """Makes the hub answer with an error."""
    return lambda error: monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse(error))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A hub that knows one model; the files that it holds can be added."""
    files: list[str] = []

    def download(name: str, *, revision: str | None, cache_dir: str | None, ignore_patterns: list[str]) -> str:
        del name, revision, cache_dir
        assert "*pytorch_model*" in ignore_patterns
        folder = tmp_path / "snapshots" / COMMIT
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()
        return str(folder)

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    return files


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache, laid out as the hub's own, with one commit of `acme/tiny`."""
    model = tmp_path / "cache" / "models--acme--tiny"
    (model / "refs").mkdir(parents=True)
    (model / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    (model / "snapshots" / COMMIT).mkdir(parents=True)
    (model / "snapshots" / COMMIT / "config.json").write_text("{}", encoding="utf-8")
    return tmp_path / "cache"


@pytest.mark.parametrize("file", ["modules.json", "config.json"])
def test_a_model_of_the_hub_is_fetched_at_one_commit(hub: list[str], tmp_path: Path, file: str) -> None:
    hub.append(file)
    assert find_snapshot("acme/tiny", None) == Snapshot(tmp_path / "snapshots" / COMMIT, COMMIT)


def test_a_repository_that_holds_no_model_is_refused(hub: list[str]) -> None:
    with pytest.raises(InvalidInputError, match=r"'acme/tiny': the hub holds neither modules.json nor config.json"):
        find_snapshot("acme/tiny", None)


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_local_copy_serves_while_the_hub_is_away(
    away: Callable[[Exception], None], cache: Path, revision: str | None
) -> None:
    away(ConnectionError("no network"))
    folder = cache / "models--acme--tiny" / "snapshots" / COMMIT
    found = find_snapshot("acme/tiny", revision, cache=str(cache))
    assert found == Snapshot(folder, COMMIT)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionError("no network"), r"no copy in the cache, and the hub cannot be reached \(ConnectionError\)"),
        (RevisionNotFoundError("?", response=Answer()), "the hub knows the model, but not this revision"),
        (RepositoryNotFoundError("?", response=Answer()), "the hub has no such model or does not show it without"),
    ],
)
def test_a_model_that_is_nowhere_is_refused_with_the_reason(
    away: Callable[[Exception], None], cache: Path, error: Exception, reason: str
) -> None:
    away(error)
    with pytest.raises(InvalidInputError, match=f"cannot load the model 'acme/tiny@v2': .*{reason}"):
        find_snapshot("acme/tiny", "v2", cache=str(cache))


def test_what_can_be_no_name_is_refused_before_the_hub_is_asked() -> None:
    with pytest.raises(InvalidInputError, match="'a/b/c': neither a folder nor a name on a hub"):
        find_snapshot("a/b/c", None)


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[local\]"):
        find_snapshot("acme/tiny", None)
