from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.embedders import CachedEmbedder, Fingerprint
from vecveil.embedders.cache import CHUNK, VectorFile


@dataclass
class CountingEmbedder:
    """Gives a text its length, and remembers what it was asked."""

    revision: str = "1"
    stop_after: int | None = None
    asked: list[list[str]] = field(default_factory=list)

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(model="length", revision=self.revision, dimensions=2, normalized=False)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked.append(list(texts))
        return np.array([[len(text), 1] for text in texts], dtype=np.float32).reshape(-1, 2)


def test_a_text_goes_through_the_model_once(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, tmp_path)
    expected = np.array([[3, 1], [1, 1], [3, 1], [2, 1]], dtype=np.float32)
    np.testing.assert_array_equal(cached.embed(["aaa", "b", "aaa", "cc"]), expected)
    assert inner.asked == [["aaa", "b", "cc"]]
    np.testing.assert_array_equal(CachedEmbedder(inner, tmp_path).embed(["cc", "dddd", "b"])[:, 0], [2, 4, 1])
    assert inner.asked[1:] == [["dddd"]]


def test_the_fingerprint_is_that_of_the_model(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    assert CachedEmbedder(inner, tmp_path).fingerprint == inner.fingerprint


def test_another_revision_has_another_file(tmp_path: Path) -> None:
    first, second = CountingEmbedder(), CountingEmbedder(revision="2")
    CachedEmbedder(first, tmp_path).embed(["a"])
    CachedEmbedder(second, tmp_path).embed(["a"])
    assert second.asked == [["a"]]
    names = {path.name for path in tmp_path.glob("*.sqlite")}
    assert names == {f"{embedder.fingerprint.digest()}.sqlite" for embedder in (first, second)}


def test_the_text_is_not_on_disk(tmp_path: Path) -> None:
    CachedEmbedder(CountingEmbedder(), tmp_path).embed(["Anna has diabetes"])
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert content
    assert b"Anna" not in content


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(2 * CHUNK + 1)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(CountingEmbedder(stop_after=2), tmp_path).embed(texts)
    inner = CountingEmbedder()
    assert CachedEmbedder(inner, tmp_path).embed(texts).shape == (len(texts), 2)
    assert inner.asked == [texts[2 * CHUNK :]]


PROGRAM = """
import os, sys
from pathlib import Path
import numpy as np
from vecveil.embedders import CachedEmbedder, Fingerprint

class Dying:
    fingerprint = Fingerprint(model="length", revision="1", dimensions=2, normalized=False)
    calls = 0

    def embed(self, texts):
        self.calls += 1
        if self.calls == 2:
            os._exit(9)
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

CachedEmbedder(Dying(), Path(sys.argv[1])).embed([f"text {number}" for number in range(int(sys.argv[2]))])
"""


def test_a_killed_process_loses_only_the_batch_in_hand(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(CHUNK + 3)]
    killed = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path), str(len(texts))], check=False, timeout=120)
    assert killed.returncode == 9
    inner = CountingEmbedder()
    CachedEmbedder(inner, tmp_path).embed(texts)
    assert inner.asked == [texts[CHUNK:]]


def test_no_texts_ask_the_model_for_nothing(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    assert CachedEmbedder(inner, tmp_path).embed([]).shape == (0, 2)
    assert inner.asked == []


def test_a_model_that_breaks_its_contract_does_not_reach_the_disk(tmp_path: Path) -> None:
    class Short(CountingEmbedder):
        def embed(self, texts: Sequence[str]) -> Embeddings:
            return super().embed(texts)[1:]

    with pytest.raises(InvalidInputError, match=r"must return shape \(2, 2\), got \(1, 2\)"):
        CachedEmbedder(Short(), tmp_path).embed(["a", "b"])
    inner = CountingEmbedder()
    CachedEmbedder(inner, tmp_path).embed(["a", "b"])
    assert inner.asked == [["a", "b"]]


KEYS = [bytes([number]) * 32 for number in range(3)]
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def _file(tmp_path: Path) -> VectorFile:
    return VectorFile(path=tmp_path / "new" / "v.sqlite", dimensions=2)


def test_what_is_written_can_be_read_again(tmp_path: Path) -> None:
    file = _file(tmp_path)
    assert file.read(KEYS) == {}
    file.write(KEYS[:2], VECTORS[:2])
    found = file.read(KEYS)
    assert list(found) == KEYS[:2]
    np.testing.assert_array_equal(np.stack(list(found.values())), VECTORS[:2])


def test_a_known_key_keeps_its_vector(tmp_path: Path) -> None:
    file = _file(tmp_path)
    file.write(KEYS[:1], VECTORS[:1])
    file.write(KEYS[:1], VECTORS[1:2])
    np.testing.assert_array_equal(file.read(KEYS)[KEYS[0]], VECTORS[0])


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    file = _file(tmp_path)
    file.write(KEYS, VECTORS)
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    # SQLite's companions stand beside the file while a connection is open.
    with closing(sqlite3.connect(file.path)) as connection:
        connection.execute("SELECT count(*) FROM vectors").fetchone()
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.path.parent.iterdir()}
    assert modes == {"v.sqlite": 0o600, "v.sqlite-wal": 0o600, "v.sqlite-shm": 0o600}


def test_a_file_that_is_no_database_is_named_with_the_remedy(tmp_path: Path) -> None:
    file = _file(tmp_path)
    file.write(KEYS, VECTORS)
    file.path.write_bytes(b"not a database " * 1000)
    with pytest.raises(ArtifactError, match=r"v\.sqlite is broken .*delete it"):
        file.read(KEYS)


def test_a_damaged_page_is_named_with_the_remedy(tmp_path: Path) -> None:
    file = _file(tmp_path)
    file.write(KEYS, VECTORS)
    content = bytearray(file.path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"v\.sqlite is broken .*delete it"):
        file.read(KEYS)


def test_a_database_of_something_else_is_named_with_the_remedy(tmp_path: Path) -> None:
    file = _file(tmp_path)
    file.path.parent.mkdir()
    with closing(sqlite3.connect(file.path)) as connection:
        connection.execute("CREATE TABLE vectors (name TEXT)")
    with pytest.raises(ArtifactError, match=r"v\.sqlite is broken .*delete it"):
        file.read(KEYS)


@pytest.mark.parametrize("value", [b"1234567", b"123456789", b"", "text"])
def test_a_value_of_another_size_is_broken(tmp_path: Path, value: object) -> None:
    file = _file(tmp_path)
    file.write(KEYS[1:], VECTORS[1:])
    with closing(sqlite3.connect(file.path)) as connection, connection:
        connection.execute("INSERT INTO vectors VALUES (?, ?)", (KEYS[0], value))
    with pytest.raises(ArtifactError, match="vector of another size"):
        file.read(KEYS)


def test_a_busy_file_is_not_called_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.embedders.cache._PATIENCE_SECONDS", 0.01)
    file = _file(tmp_path)
    file.write(KEYS[:1], VECTORS[:1])
    with closing(sqlite3.connect(file.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert list(file.read(KEYS)) == KEYS[:1]
        with pytest.raises(ArtifactError, match=r"cannot be used now: SQLITE_BUSY"):
            file.write(KEYS[1:], VECTORS[1:])


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("a file")
    with pytest.raises(ArtifactError, match=r"v\.sqlite cannot be used: "):
        _file(tmp_path).read(KEYS)
