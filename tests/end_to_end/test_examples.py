"""Every example is run as its reader would, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "sentence_transformers_model.py": "tensor(",
    "protect_then_encrypt.py": "a stored vector of 384 numbers",
    "redact_then_protect.py": "(2, 384)",
    "langchain_store.py": "The lift on the third floor is out of order.",
    "llama_index_index.py": "The lift on the third floor is out of order.",
    "haystack_pipeline.py": "The lift on the third floor is out of order.",
    "chroma_collection.py": "[['2']]",
    "gateway_client.py": "2 vectors of 384 dimensions",
    "faiss_rerank.py": "The lift on the third floor is out of order.",
    "migrate_chroma.py": "[['2']]",
    "ray_dataset.py": "['id', 'vector']",
    "spark_frame.py": "vector: array",
    "sklearn_pipeline.py": "house",
    "mteb_evaluation.py": "0.",
}
LONGEST = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which make_veil.py has been run."""
    place = tmp_path_factory.mktemp("examples")
    _run("make_veil.py", place)
    return place


def _run(name: str, place: Path) -> str:
    # As in a terminal where the environment is active, whose commands are found by their names.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "VECVEIL_LEDGER": str(place / "ledger.sqlite")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_shows_what_it_promises(folder: Path, name: str) -> None:
    assert SHOWN[name] in _run(name, folder)


def test_every_example_is_run_and_short() -> None:
    found = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in EXAMPLES.glob("*.py")}
    assert {*found} == {*SHOWN, "make_veil.py"}
    assert max(found.values()) <= LONGEST
