"""The wheel in a fresh environment: alone, and with extras (`make smoke` tries every one)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = os.environ.get("VECVEIL_SMOKE", "base,serve").split(",")

PROTECT = """
import sys
import numpy as np
import vecveil as vv
from vecveil.audit.defenses import make_veil, uniform_shape
from vecveil.embedders import Fingerprint
from vecveil.shapes import ContrastPairs

vectors = np.random.default_rng(0).standard_normal((4096, 384)).astype(np.float32)
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
model = Fingerprint(model="any", revision="none", dimensions=384, normalized=True)
veil = make_veil(uniform_shape(384), ContrastPairs(vectors[:10], vectors[10:20]), model)
key = vv.Key.new()
safe = veil.perturb(vectors, noise_ratio=0.5, key=key, ids=list(range(4096)), ledger="ledger.sqlite")
assert safe.shape == (4096, 384)
assert (safe == veil.perturb(vectors, noise_ratio=0.5, key=key, ids=list(range(4096)))).all()
veil.save("any.veil")
assert vv.Guard("any.veil", noise_ratio=0.5, grid="int8").protect_vectors(vectors).dtype == np.int8
assert not {"torch", "numba", "spacy", "scipy"} & set(sys.modules)
print("protected", len(safe))
"""

IMPORTS = {
    "base": "vecveil.cli.main",
    "serve": "vecveil.service.app, vecveil.service.server",
    "chroma": "vecveil.integrations.chroma",
    "haystack": "vecveil.integrations.haystack",
    "langchain": "vecveil.integrations.langchain",
    "llama-index": "vecveil.integrations.llama_index",
    "ray": "vecveil.integrations.ray",
    "spark": "vecveil.integrations.spark",
    "mteb": "vecveil.integrations.mteb",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_lists_what_it_depends_on(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if "/sboms/" in one]
        listed = json.loads(archive.read(name))
    assert name.endswith(".dist-info/sboms/vecveil.cdx.json")
    required = {part["name"] for part in listed["components"] if part["scope"] == "required"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert required == {re.match(r"[\w-]+", one)[0] for one in project["dependencies"]}  # type: ignore[index]
    assert (listed["bomFormat"], listed["metadata"]["component"]["version"]) == ("CycloneDX", project["version"])


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_wheel_protects_rows_with_what_it_declares(extra: str, wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    wanted = str(wheel) if extra == "base" else f"{wheel}[{extra}]"
    # torch first, in the one version whose processor build is at hand.
    known = [*(["torch==2.13.0"] if "torch" in _requirements(extra) else []), wanted]
    install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # Without hashes, which would be asked of the wheel itself too.
    locked = re.sub(r" \\\n +--hash=\S+", "", (ROOT / "requirements" / "lock.txt").read_text())
    (tmp_path / "versions.txt").write_text(locked)
    for one in known:
        subprocess.run([*install, "--constraint", tmp_path / "versions.txt", one], check=True)
    done = subprocess.run([python, "-c", PROTECT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "protected 4096\n", done.stderr
    modules = IMPORTS.get(extra, "vecveil")
    subprocess.run([python, "-c", f"import {modules}"], cwd=tmp_path, check=True)


def _requirements(extra: str) -> str:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = [] if extra == "base" else [extra]
    found = ""
    while named:
        for requirement in extras[named.pop()]:
            if requirement.startswith("vecveil["):
                named += requirement.removeprefix("vecveil[").rstrip("]").split(",")
            found += f" {requirement}"
    return found
