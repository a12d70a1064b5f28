from __future__ import annotations

import subprocess
import sys

import pytest

PACKAGES = {
    "langchain": ("langchain_core", "langchain"),
    "llama_index": ("llama_index", "llama-index"),
    "haystack": ("haystack", "haystack"),
    "chroma": ("chromadb", "chroma"),
    "sklearn": ("sklearn", "scikit-learn"),
    "mteb": ("mteb", "mteb"),
    "sentence_transformers": ("sentence_transformers", "local"),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_library_that_is_missing_is_named_with_its_extra(name: str) -> None:
    package, extra = PACKAGES[name]
    code = f"import sys; sys.modules['{package}'] = None; import vecveil.integrations.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"pip install 'vecveil[{extra}]'" in done.stderr
