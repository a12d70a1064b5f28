"""What a database must do to hold a ledger. Everything else is the same for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

PATIENCE_SECONDS = 60.0
"""How long a writer waits for its turn before it gives up."""


class Session(Protocol):
    """One connection. Statements have their values as $1, $2, …, which all databases here understand."""

    @property
    def lost(self) -> bool:
        """Whether the connection broke, so that another must be made."""
        ...

    def is_founded(self) -> bool:
        """Return whether there is a ledger; raise if there is something else in its place."""
        ...

    def found(self, entries: Mapping[str, str]) -> None:
        """Make the tables, with `entries` in the table `meta`, unless someone else has by now."""
        ...

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        ...

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement at constant memory."""
        ...

    def clear(self) -> None:
        """Empty the table `staged`, which only this session sees; make it where it is missing."""
        ...

    def stage(self, first_place: int, records: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Add rows to the table `staged`."""
        ...

    def count_staged(self) -> None:
        """Take note of how much is staged, where that may be more than a batch."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the ledger against all other writers until the block ends, and keep all that was done in it or none."""
        ...

    def damage(self) -> list[str]:
        """Return what the database finds wrong with its own files."""
        ...

    def close(self) -> None:
        """Give the connection back."""
        ...


class Database(Protocol):
    """A place for one ledger."""

    @property
    def where(self) -> str:
        """The place, fit to be shown."""
        ...

    def connect(self, *, create: bool) -> Session:
        """Return a new session.

        Args:
            create: Whether a place may be made where there is none; that is an InvalidInputError otherwise.

        Raises:
            ArtifactError: If there is something else in its place, which is left as it is.
        """
        ...
