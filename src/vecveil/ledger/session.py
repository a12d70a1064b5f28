"""Connections to a ledger's database: any, and an SQLite file."""

import re
import secrets
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Self

from vecveil.core.atomic import require_own
from vecveil.core.errors import ArtifactError, InvalidInputError

FORMAT = 1  # Number of the newest format that this version reads and writes.

MISSING = "there is no ledger {}; it is made when the first release is recorded"
NOT_A_LEDGER = "{} is not a ledger; nothing was changed in it. Name another place"

_SECTIONS = re.split(r"^-- name: (\w+)$", files(__package__).joinpath("statements.sql").read_text("utf-8"), flags=re.M)
SQL = dict(zip(_SECTIONS[1::2], _SECTIONS[2::2], strict=True))
"""The statements in `statements.sql`, by name."""

APPLICATION = int.from_bytes(b"vvlg")
"""SQLite's application id, at a fixed place in the file: tells a ledger from any other database."""

_CONNECTING = Lock()
"""Held while a file is created: closing it drops all locks of this process on it, so no session may open meanwhile."""


class Session(ABC):
    """One connection to SQLite or PostgreSQL; `where` is its path or URL without user and password."""

    PATIENCE_SECONDS: ClassVar[float] = 60.0  # How long a writer waits for its turn before it gives up.
    TYPES: ClassVar[Mapping[str, str]]
    MARK: ClassVar[str]
    TABLE_NAMES: ClassVar[str]
    LOCK: ClassVar[tuple[str, ...]]
    FIND_DAMAGE: ClassVar[str]
    PLACEHOLDER: ClassVar[str]
    ERRORS: ClassVar[type[Exception]]

    def __init__(self, address: str) -> None:
        self.where = self._address = address
        self._connection: Any = None

    @abstractmethod
    def stage(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows to the table `staged`: place, record, token, vector, words."""

    @abstractmethod
    def explain(self, error: Any) -> str:
        """Return what is wrong with the ledger, in words that follow its name."""

    @property
    def lost(self) -> bool:
        """Whether the connection to a server broke."""
        return bool(getattr(self._connection, "closed", False))

    def reopen(self) -> Self:
        """Return another session on the same database."""
        return type(self)(self._address)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement, with values for $1, $2, …, and return its rows."""
        with self.plain_errors():
            cursor = self._connection.execute(statement.replace("$", self.PLACEHOLDER), values)
            return cursor.fetchall() if cursor.description else []

    def clear(self) -> None:
        """Empty the table `staged`, which only this session sees; create it where it is missing."""
        self.rows(SQL["create_staged"])
        self.rows("DELETE FROM staged")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Lock out all other writers until the block ends, and keep all that was done in it or none."""
        try:
            for statement in self.LOCK:
                self.rows(statement)
            yield
            self.rows("COMMIT")
        except BaseException:
            # Where this fails, nothing was begun, or the connection broke, which undoes it as well.
            with suppress(ArtifactError):
                self.rows("ROLLBACK")
            raise

    @contextmanager
    def plain_errors(self) -> Iterator[None]:
        """Turn errors of the database into one that names the ledger and that a user can act on."""
        try:
            yield
        except self.ERRORS as error:
            raise ArtifactError(f"the ledger {self.where} {self.explain(error)}") from None

    def open_ledger(self, *, create: bool) -> tuple[str, bytes]:
        """Return id and salt of the ledger; create it where there is none, or raise if that is not allowed."""
        names = {name for (name,) in self.rows(self.TABLE_NAMES)}
        if names and not {"meta", "runs", "releases"} <= names:
            raise ArtifactError(NOT_A_LEDGER.format(f"what is in {self.where}"))
        if not names:
            if not create:
                raise InvalidInputError(MISSING.format(self.where))
            self._create_schema()
        meta = dict(self.rows(SQL["meta"]))
        number = meta.get("format", "")
        if not number.isdecimal() or not {"id", "salt"} <= set(meta):
            raise ArtifactError(f"{self.where} is damaged: it does not say what format it has; nothing was changed")
        if int(number) > FORMAT:
            raise ArtifactError(f"the ledger {self.where} has format {number}; install a newer vecveil to read it")
        return meta["id"], bytes.fromhex(meta["salt"])

    def _create_schema(self) -> None:
        meta = {"format": str(FORMAT), "id": secrets.token_hex(16), "salt": secrets.token_hex(32)}
        with self.transaction():
            # Another process may have been faster.
            if not self.rows(self.TABLE_NAMES):
                self.rows(self.MARK)
                for name in (one for one in SQL if one.startswith("create_") and one != "create_staged"):
                    self.rows(SQL[name].format(**self.TYPES))
                for entry in meta.items():
                    self.rows(SQL["add_meta"], *entry)


class SqliteSession(Session):
    """A connection to a file, which only its owner can read; SQLite keeps two more beside it while it is open."""

    TYPES: ClassVar = {"number": "INTEGER", "blob": "BLOB", "options": "WITHOUT ROWID"}
    MARK = f"PRAGMA application_id = {APPLICATION}"
    TABLE_NAMES = "SELECT name FROM sqlite_master"
    LOCK = ("BEGIN IMMEDIATE",)
    FIND_DAMAGE = "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'"
    PLACEHOLDER = "?"
    ERRORS = sqlite3.Error

    def __init__(self, address: str, *, create: bool = False) -> None:
        super().__init__(address)
        with _CONNECTING, self.plain_errors():
            try:
                _prepare_file(Path(address), create=create)
            except OSError as error:
                raise ArtifactError(f"the ledger {address} cannot be used: {error.strerror or error}") from None
            self._connection = _connect(Path(address), "mode=rw")
        # A crash, even of the machine, must not forget a release that is written somewhere else. The rest is for speed.
        for setting in ("synchronous = FULL", "cache_size = -32768", "wal_autocheckpoint = 16384"):
            self.rows(f"PRAGMA {setting}")

    def open_ledger(self, *, create: bool) -> tuple[str, bytes]:
        """Return id and salt of the ledger, whose file is switched to WAL: readers don't wait for writers then."""
        found = super().open_ledger(create=create)
        # SQLite does not wait its turn for this. Whoever has the file just now is about to do the same.
        with suppress(ArtifactError):
            self.rows("PRAGMA journal_mode = WAL")
        return found

    def stage(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows to the table `staged`, which is in a file of its own: no other writer waits."""
        with self.plain_errors(), self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT INTO staged VALUES (?, ?, ?, ?, ?)", rows)

    def explain(self, error: sqlite3.Error) -> str:
        """Return what is wrong, with SQLite's own words where they are clear."""
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return f"is damaged ({name}); put a backup in its place: what it held cannot be worked out again"
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return f"cannot be used: another process has held it for too long; try again ({name})"
        return f"cannot be used: {error} ({name})"


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # Threads use a session in turn, as the ledger sees to.
    address, patience = f"{path.absolute().as_uri()}?{mode}", Session.PATIENCE_SECONDS
    return sqlite3.connect(address, timeout=patience, isolation_level=None, check_same_thread=False, uri=True)


def _prepare_file(path: Path, *, create: bool) -> None:
    """Create a file where there is none; raise if it is no ledger, not even a damaged one, without changing a byte."""
    require_own(path)
    if not path.exists():
        if not create:
            raise InvalidInputError(MISSING.format(path))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite would let others read the file.
        path.touch(mode=0o600)
    if path.is_file() and path.stat().st_size == 0:
        # It may have been created by another program, for all to read.
        path.chmod(0o600)
    elif not path.is_file() or _read_mark(path) != APPLICATION:
        raise ArtifactError(NOT_A_LEDGER.format(path))


def _read_mark(path: Path) -> int | None:
    # Asked through SQLite, which knows not to drop its locks; as immutable, since a database of another program must
    # not even be recovered. That ignores the files beside it, so a ledger after a crash may seem damaged.
    try:
        with closing(_connect(path, "immutable=1")) as connection:
            return int(connection.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return None if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB else APPLICATION
