"""A model hub on this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from vecveil.core.digests import file_digest

COMMIT = "0123456789abcdef0123456789abcdef01234567"


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
