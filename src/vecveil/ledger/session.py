"""A connection to the database that holds a ledger."""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from typing import Any, ClassVar, Self

from vecveil.core.errors import ArtifactError, InvalidInputError

FORMAT = 1
"""Number of the newest format that this version reads and writes."""

MISSING = "there is no ledger {}; it is made when the first release is recorded"
NOT_A_LEDGER = "{} is not a ledger; nothing was changed in it. Name another place"

_SECTIONS = re.split(r"^-- name: (\w+)$", files(__package__).joinpath("statements.sql").read_text("utf-8"), flags=re.M)
SQL = dict(zip(_SECTIONS[1::2], _SECTIONS[2::2], strict=True))
"""The statements in `statements.sql`, by name."""


class Session(ABC):
    """One connection to SQLite or PostgreSQL; `where` is its path or URL without user and password."""

    PATIENCE_SECONDS: ClassVar[float] = 60.0
    """How long a writer waits for its turn before it gives up."""

    TYPES: ClassVar[Mapping[str, str]]
    MARK: ClassVar[str]
    TABLE_NAMES: ClassVar[str]
    LOCK: ClassVar[tuple[str, ...]]
    FIND_DAMAGE: ClassVar[str]
    PLACEHOLDER: ClassVar[str]
    ERRORS: ClassVar[type[Exception]]

    def __init__(self, address: str, *, where: str | None = None) -> None:
        self.where = address if where is None else where
        self._address = address
        self._connection: Any = None

    @abstractmethod
    def attach(self) -> bool:
        """Prepare to use the tables; return False where there are none, raise if there are others in their place."""

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
        with self.plain_errors():
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
        if not self.attach():
            if not create:
                raise InvalidInputError(MISSING.format(self.where))
            self._create_schema()
            self.attach()
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
