"""The hub's library reads its environment when it is imported, so these facts are learned in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vecveil.core.errors import MissingExtraError
from vecveil.embedders.hub import find_snapshot

from .conftest import COMMIT, FakeHub

PROGRAM = """
import json, sys
from vecveil.core.errors import InvalidInputError
from vecveil.embedders.sentence_transformers import from_spec

for spec in sys.argv[1:]:
    embedder = from_spec(spec)
    try:
        print(json.dumps({**embedder.fingerprint.settings(), "shape": embedder.embed(["a", "b"]).shape}))
    except InvalidInputError as error:
        print(json.dumps({"error": str(error)}))
"""


def _ask(*specs: str, **environment: str) -> list[dict[str, Any]]:
    settings = ("HF_", "TRANSFORMERS_", "SENTENCE_TRANSFORMERS_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(settings)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, *specs],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_without_a_network_the_cached_commit_is_loaded_and_named(hub_cache: Path) -> None:
    main, pinned, missing, unknown = _ask(
        "acme/tiny",
        f"acme/tiny@{COMMIT}",
        "acme/other",
        "acme/tiny@v2",
        HF_HUB_CACHE=str(hub_cache),
        HF_HUB_OFFLINE="1",
    )
    assert main == {"model": "acme/tiny", "revision": COMMIT, "dimensions": 16, "normalised": True, "shape": [2, 16]}
    assert pinned == main
    for answer, name in ((missing, "acme/other"), (unknown, "acme/tiny@v2")):
        assert answer["error"].startswith(f"cannot load the model '{name}': no such folder, no copy in the cache")
        assert "\n" not in answer["error"]


def test_a_model_from_the_hub_is_pinned_to_one_commit_and_stays_usable_when_the_hub_is_gone(
    fake_hub: FakeHub, tmp_path: Path
) -> None:
    home = str(tmp_path / "home")
    found, misspelt, unknown = _ask(
        "acme/tiny", "acme/tinny", "acme/tiny@v2", HF_ENDPOINT=fake_hub.address, HF_HOME=home
    )
    assert found == {"model": "acme/tiny", "revision": COMMIT, "dimensions": 16, "normalised": True, "shape": [2, 16]}
    assert misspelt["error"].startswith("cannot load the model 'acme/tinny': there is no such folder, and the hub")
    assert unknown["error"] == "cannot load the model 'acme/tiny@v2': the hub knows the model, but not this revision"
    weights = [path for path in fake_hub.asked if path.endswith("model.safetensors")]
    assert weights
    assert all(f"/resolve/{COMMIT}/" in path for path in weights)

    # Nothing listens on the discard port.
    [later] = _ask("acme/tiny", HF_ENDPOINT="http://127.0.0.1:9", HF_HOME=home)
    assert later == found


def test_a_name_without_an_organisation_belongs_to_sentence_transformers(tmp_path: Path) -> None:
    [answer] = _ask("all-MiniLM-L6-v2", HF_HUB_CACHE=str(tmp_path), HF_HUB_OFFLINE="1")
    assert "'sentence-transformers/all-MiniLM-L6-v2'" in answer["error"]


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[models\]"):
        find_snapshot("acme/tiny", None)
