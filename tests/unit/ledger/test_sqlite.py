from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from support.command_line import listing
from support.ledgers import fresh, made_charge, names, outputs, start_python
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.ledger import Ledger, open_ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "books" / "ledger.sqlite"


def _release(ledger: Ledger, rows: int = 3) -> None:
    charge = made_charge()
    ledger.spend(charge, 0, names(*range(rows)), fresh(rows))


def test_only_the_owner_can_read_it(path: Path) -> None:
    old = os.umask(0)
    try:
        with open_ledger(path) as ledger:
            _release(ledger)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(old)
    assert modes == {"ledger.sqlite": 0o600, "ledger.sqlite-wal": 0o600, "ledger.sqlite-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    # Nothing but the ledger is left when it is closed.
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(0o644)
    with open_ledger(path) as ledger:
        ledger.set_limit(3.0)
    assert path.stat().st_mode & 0o777 == 0o600


def test_it_is_on_disk_before_a_release_is_allowed(path: Path) -> None:
    with open_ledger(path) as ledger:
        _release(ledger)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        # 2 is FULL: a commit waits until the disk has it.
        assert ledger._session.rows("PRAGMA synchronous") == [(2,)]


def test_a_missing_ledger_is_not_made_unless_it_may_be(path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"there is no ledger .*ledger\.sqlite"):
        open_ledger(path, create=False)
    assert not path.parent.exists()
    path.parent.mkdir()
    path.touch()
    with pytest.raises(InvalidInputError, match="there is no ledger"):
        open_ledger(path, create=False)
    # What is left when a machine stops before the first table is made.
    assert open_ledger(path).runs() == []


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_something_else_is_left_alone(path: Path, journal: str) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        connection.execute("INSERT INTO meta VALUES ('format', '1')")
        before = listing(path.parent)
        for create in (True, False):
            with pytest.raises(ArtifactError, match="is not a ledger; nothing was changed"):
                open_ledger(path, create=create)
        assert listing(path.parent) == before


@pytest.mark.parametrize("content", [b"x", b"not a database " * 1000, b"SQLite format 3\0" + b"\1" * 5000])
def test_a_file_of_something_else_is_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"ledger\.sqlite is not a ledger"):
        open_ledger(path)
    assert listing(path.parent) == {"ledger.sqlite": content}


def test_a_folder_is_no_ledger(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(ArtifactError, match="is not a ledger"):
        open_ledger(path)


def test_a_damaged_ledger_is_named_with_the_remedy(path: Path) -> None:
    with open_ledger(path) as ledger:
        _release(ledger, rows=2000)
    content = bytearray(path.read_bytes())
    content[3 * 4096 :] = b"\xff" * (len(content) - 3 * 4096)
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"ledger\.sqlite is damaged .*backup"), open_ledger(path) as ledger:
        ledger.totals()


def test_a_damaged_page_is_found_by_the_check(path: Path) -> None:
    with open_ledger(path) as ledger:
        _release(ledger, rows=2000)
    # A record stands in the table and in its index; from now on they disagree.
    path.write_bytes(path.read_bytes().replace(names(1234)[0], names(9999)[0], 1))
    with open_ledger(path) as ledger:
        assert any("the database finds damage" in problem for problem in ledger.problems())


def test_what_was_recorded_survives_a_crash_of_the_machine(path: Path, tmp_path: Path) -> None:
    with open_ledger(path) as ledger:
        _release(ledger, rows=500)
        # A copy of the files as they are at this moment is what a disk holds after the power went.
        shutil.copytree(path.parent, tmp_path / "after")
    for companion in (tmp_path / "after").glob("*-shm"):
        companion.unlink()
    with open_ledger(tmp_path / "after" / "ledger.sqlite", create=False) as ledger:
        assert ledger.totals().releases == 500
        assert ledger.problems() == []


LOCK = """
import fcntl
with open(sys.argv[1], "rb+") as stream:
    try:
        fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
        print("free")
    except OSError:
        print("held")
"""


def test_opening_a_ledger_twice_in_a_process_lets_go_of_no_lock(path: Path) -> None:
    # Closing a file drops all locks that the process holds on it, whoever took them; these are SQLite's readers'.
    with open_ledger(path) as first:
        _release(first)
        assert outputs([start_python(LOCK, path)]) == ["held"]
        with open_ledger(path) as second:
            second.runs()
        first.runs()
        assert outputs([start_python(LOCK, path)]) == ["held"]
    assert outputs([start_python(LOCK, path)]) == ["free"]


USE = """
from vecveil.ledger import open_ledger
from vecveil.core.errors import ArtifactError
try:
    with open_ledger(sys.argv[1]) as ledger:
        ledger.set_limit(1.0)
    print("written")
except ArtifactError as error:
    print(error)
"""


def _without_privileges(program: str, *arguments: object) -> str:
    """Run a program as an ordinary owner of the files: root may write where no one may, unless it gives that up."""
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{program}", *map(str, arguments)]
    if os.getuid() == 0:
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_a_folder_that_may_not_be_written_is_a_clear_error(path: Path) -> None:
    path.parent.mkdir(mode=0o500)
    assert _without_privileges(USE, path) == f"the ledger {path} cannot be used: Permission denied"
    assert list(path.parent.iterdir()) == []


def test_a_ledger_that_may_not_be_written_is_a_clear_error(path: Path) -> None:
    open_ledger(path).close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    before = path.read_bytes()
    assert f"the ledger {path} cannot be used: attempt to write a readonly database" in _without_privileges(USE, path)
    assert path.read_bytes() == before
    path.parent.chmod(0o700)
    path.chmod(0o600)
    assert _without_privileges(USE, path) == "written"


FULL = """
import resource, signal
from support.ledgers import fresh, made_charge, names
from vecveil.ledger import open_ledger
from vecveil.core.errors import ArtifactError
with open_ledger(sys.argv[1]) as ledger:
    charge = made_charge(run=sys.argv[2])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = 300_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        for row in range(0, 100_000, 500):
            ledger.spend(charge, row, names(*range(row, row + 500)), fresh(500))
    except ArtifactError as error:
        print(row)
        print(error)
"""


def test_a_full_disk_records_whole_batches_or_none(path: Path) -> None:
    open_ledger(path).close()
    ((said),) = outputs([start_python(FULL, path, "ab" * 16)])
    row, message = said.splitlines()
    assert "cannot be used" in message
    with open_ledger(path) as ledger:
        assert ledger.totals().releases == int(row) > 0
        assert ledger.problems() == []
