from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from support.tiny_model import write_tiny_model

from vecveil.core.digests import file_digest

COMMIT = "0123456789abcdef0123456789abcdef01234567"


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


@dataclass
class FakeHub:
    """A model hub on this machine that holds one commit of `acme/tiny`."""

    folder: Path
    address: str = ""
    asked: list[str] = field(default_factory=list)

    def reply(self, path: str) -> tuple[int, dict[str, str], bytes]:
        self.asked.append(path)
        if path.startswith("/acme/tiny/resolve/"):
            return self._file(path.split("/", maxsplit=5)[5])
        about = "/api/models/acme/tiny"
        if path in {about, f"{about}/revision/{COMMIT}", f"{about}/revision/main"}:
            return 200, {}, json.dumps({"id": "acme/tiny", "sha": COMMIT, "siblings": []}).encode()
        if path == f"{about}/tree/{COMMIT}":
            return 200, {}, json.dumps(self._listing()).encode()
        known = path.startswith(f"{about}/")
        missing = "RepoNotFound" if not known else "RevisionNotFound" if "/revision/" in path else "EntryNotFound"
        return 404, {"X-Error-Code": missing}, b""

    def _file(self, name: str) -> tuple[int, dict[str, str], bytes]:
        file = self.folder / name
        if not file.is_file():
            return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, b""
        return 200, {"X-Repo-Commit": COMMIT, "ETag": f'"{file_digest(file)[:40]}"'}, file.read_bytes()

    def _listing(self) -> list[dict[str, str | int]]:
        files = [file for file in sorted(self.folder.rglob("*")) if file.is_file()]
        return [
            {
                "type": "file",
                "path": file.relative_to(self.folder).as_posix(),
                "size": file.stat().st_size,
                "oid": file_digest(file)[:40],
            }
            for file in files
        ]


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
