from __future__ import annotations

import subprocess
import sys

import pytest

import vecveil.embedders
from vecveil.embedders import EMBEDDERS


@pytest.mark.parametrize("name", sorted(EMBEDDERS.builtin))
def test_every_registered_name_can_be_loaded(name: str) -> None:
    assert callable(EMBEDDERS.load(name))


def test_every_export_is_there() -> None:
    assert all(hasattr(vecveil.embedders, name) for name in vecveil.embedders.__all__)


def test_importing_the_embedders_loads_nothing_heavy() -> None:
    program = "import sys, vecveil.embedders; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    loaded = set(done.stdout.split())
    heavy = {"torch", "transformers", "sentence_transformers", "huggingface_hub", "pyarrow", "openai", "sqlite3"}
    assert "vecveil.embedders" in loaded
    assert not heavy & loaded
