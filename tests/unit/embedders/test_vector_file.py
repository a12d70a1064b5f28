from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from vecveil.core.errors import ArtifactError
from vecveil.embedders.vector_file import VectorFile

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
    monkeypatch.setattr("vecveil.embedders.vector_file._PATIENCE_SECONDS", 0.01)
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


PROGRAM = """
import sys, time
from pathlib import Path
import numpy as np
from vecveil.embedders.vector_file import VectorFile

folder, number, start = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for step in range(40):
    # All processes make each file at the same moment: that is when SQLite does not wait its turn.
    time.sleep(max(0.0, start + step / 20 - time.time()))
    file = VectorFile(path=folder / f"{step}.sqlite", dimensions=2)
    file.write([bytes([number]) * 32], np.array([[number, step]], dtype=np.float32))
    assert bytes([number]) * 32 in file.read([bytes([number]) * 32])
"""


def test_processes_that_make_a_file_together_share_it(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", PROGRAM, str(tmp_path / "new")]
    start = str(time.time() + 2)
    started = [subprocess.Popen([*arguments, str(number), start], stderr=subprocess.PIPE) for number in range(8)]
    assert [process.communicate(timeout=300)[1] for process in started] == [b""] * 8
    for step in range(40):
        file = VectorFile(path=tmp_path / "new" / f"{step}.sqlite", dimensions=2)
        found = file.read([bytes([number]) * 32 for number in range(8)])
        np.testing.assert_array_equal(np.stack(list(found.values())), [[number, step] for number in range(8)])
