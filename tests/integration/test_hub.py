"""The hub's library reads its environment when it is imported, so these facts are learned in processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from support.fake_hub import COMMIT, FakeHub
from support.tiny_model import write_tiny_model
from vecveil.core.errors import MissingExtraError
from vecveil.core.model_folders import digest_folder, find_snapshot

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


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def hub_cache(tmp_path: Path, tiny_model: Path) -> Path:
    """Return a cache as the hub's library lays it out, with one commit of `acme/tiny`."""
    cache = tmp_path / "hub"
    repository = cache / "models--acme--tiny"
    shutil.copytree(tiny_model, repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    return cache


@pytest.fixture
def fake_hub(tiny_model: Path) -> Iterator[FakeHub]:
    with _serving(FakeHub(tiny_model)) as hub:
        yield hub


@contextmanager
def _serving(hub: FakeHub) -> Iterator[FakeHub]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = hub.reply(self.path.partition("?")[0].replace("/./", "/"))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        hub.address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()


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


def _answer(folder: Path) -> dict[str, Any]:
    revision = f"{COMMIT} sha256:{digest_folder(folder)}"
    return {"model": "acme/tiny", "revision": revision, "dimensions": 16, "normalized": True, "shape": [2, 16]}


def test_without_a_network_the_cached_commit_is_loaded_and_named(hub_cache: Path) -> None:
    main, pinned, missing, unknown = _ask(
        "acme/tiny",
        f"acme/tiny@{COMMIT}",
        "acme/other",
        "acme/tiny@v2",
        HF_HUB_CACHE=str(hub_cache),
        HF_HUB_OFFLINE="1",
    )
    assert main == _answer(hub_cache / "models--acme--tiny" / "snapshots" / COMMIT)
    assert pinned == main
    for answer, name in ((missing, "acme/other"), (unknown, "acme/tiny@v2")):
        assert answer["error"].startswith(f"cannot load the model '{name}': no such folder, no copy in the cache")
        assert "\n" not in answer["error"]


def test_a_model_from_the_hub_is_pinned_to_one_commit_and_stays_usable_when_the_hub_is_gone(
    fake_hub: FakeHub, tmp_path: Path
) -> None:
    home = str(tmp_path / "home")
    found, misspelled, unknown = _ask(
        "acme/tiny", "acme/tinny", "acme/tiny@v2", HF_ENDPOINT=fake_hub.address, HF_HOME=home
    )
    assert found == _answer(fake_hub.folder)
    assert misspelled["error"].startswith("cannot load the model 'acme/tinny': there is no such folder, and the hub")
    assert unknown["error"] == "cannot load the model 'acme/tiny@v2': the hub knows the model, but not this revision"
    weights = [path for path in fake_hub.asked if path.endswith("model.safetensors")]
    assert weights
    assert all(f"/resolve/{COMMIT}/" in path for path in weights)

    # Nothing listens on the discard port.
    [later] = _ask("acme/tiny", HF_ENDPOINT="http://127.0.0.1:9", HF_HOME=home)
    assert later == found


def test_a_name_without_an_organization_belongs_to_sentence_transformers(tmp_path: Path) -> None:
    [answer] = _ask("all-MiniLM-L6-v2", HF_HUB_CACHE=str(tmp_path), HF_HUB_OFFLINE="1")
    assert "'sentence-transformers/all-MiniLM-L6-v2'" in answer["error"]


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[local\]"):
        find_snapshot("acme/tiny", None)
