"""The ledger itself: all that is the same in every database."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from threading import RLock
from types import TracebackType
from typing import Self

from vecveil.accounting.ledger import statements
from vecveil.accounting.ledger.charge import Charge
from vecveil.accounting.ledger.database import Database, Session
from vecveil.accounting.ledger.entries import Release, RunSummary, Totals
from vecveil.accounting.ledger.examination import problems_of
from vecveil.accounting.ledger.founding import founded_session, read_founding
from vecveil.accounting.ledger.inventory import releases_of, runs_of, totals_of
from vecveil.accounting.ledger.recording import DIGEST_BYTES, record_run, record_staged, require_digests
from vecveil.accounting.ledger.room import require_room, stored_limit
from vecveil.core.checks import at_least, not_negative
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent


class Book:
    """A ledger in a database; `Ledger` says what each method promises."""

    def __init__(self, database: Database, *, create: bool) -> None:
        self._database = database
        self._session: Session | None = founded_session(database, create=create)
        try:
            self._founding = read_founding(self._session, database.where)
        except BaseException:
            self._session.close()
            raise
        self._process = os.getpid()
        self._turn = RLock()

    @property
    def id(self) -> str:
        """Name of this ledger."""
        return self._founding.id

    @property
    def where(self) -> str:
        """Where it lies, fit to be shown."""
        return self._database.where

    @property
    def limit(self) -> float | None:
        """The most that any one record may lose."""
        with self._working() as session:
            return stored_limit(session)

    def set_limit(self, nats: float | None) -> None:
        """Change the limit; None takes it away."""
        limit = None if nats is None else repr(not_negative(nats, "limit"))
        with self._working() as session, session.transaction():
            if limit is None:
                session.rows(statements.DROP_LIMIT)
            else:
                session.rows(statements.SET_LIMIT, limit)

    def digests(self, identities: Sequence[bytes]) -> list[bytes]:
        """Return 16 bytes for each record id."""
        salt = self._founding.salt
        return [hashlib.blake2b(one, key=salt, digest_size=DIGEST_BYTES).digest() for one in identities]

    def begin(self, charge: Charge) -> None:
        """Put a run on record."""
        with self._working() as session, session.transaction():
            record_run(session, charge)

    def require(
        self,
        charge: Charge,
        batches: Iterable[tuple[Sequence[bytes], Sequence[bytes]]],
        *,
        progress: Progress = silent,
    ) -> None:
        """Raise if releasing all of `batches` would bring any record over the limit."""
        limit = self.limit
        if limit is None or charge.cost is None:
            return
        # A session of its own: nothing is held while the caller reads its input, and what was staged goes with it.
        with closing(self._database.connect(create=False)) as session:
            session.clear()
            for records, tokens in progress(batches, label="checking the budget", weigh=lambda batch: len(batch[0])):
                require_digests(records, tokens)
                session.stage(0, records, tokens)
            session.count_staged()
            require_room(session, charge.cost, limit)

    def spend(self, charge: Charge, first_row: int, records: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Put releases on record, all or none."""
        at_least(first_row, 0, "first_row")
        require_digests(records, tokens)
        with self._working() as session:
            session.clear()
            session.stage(first_row, records, tokens)
            with session.transaction():
                record_staged(session, charge)

    def spent(self, records: Sequence[bytes]) -> list[float]:
        """Return what each record has lost so far."""
        require_digests(records, records)
        with self._working() as session:
            session.clear()
            session.stage(0, records, records)
            found = dict(session.rows(statements.SPENT))
        return [found.get(record, 0.0) for record in records]

    def runs(self) -> list[RunSummary]:
        """Return all runs, the oldest first."""
        with self._working() as session:
            return runs_of(session)

    def totals(self) -> Totals:
        """Return the sums over all runs."""
        with self._working() as session:
            return totals_of(session)

    def releases(self) -> Iterator[Release]:
        """Yield every release, run by run and row by row."""
        with closing(self._database.connect(create=False)) as session:
            yield from releases_of(session)

    def problems(self) -> list[str]:
        """Return what is wrong with the ledger, in words."""
        with self._working() as session:
            return problems_of(session)

    def close(self) -> None:
        """Give the database back."""
        with self._turn:
            if self._session is not None:
                self._session.close()
            self._session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()

    @contextmanager
    def _working(self) -> Iterator[Session]:
        with self._turn:
            if self._process != os.getpid():
                # A connection that two processes talk through breaks either database.
                raise InvalidInputError(f"the ledger {self.where} was opened before a fork; open it in each process")
            if self._session is None:
                raise InvalidInputError(f"the ledger {self.where} is closed")
            if self._session.lost:
                self._session = self._database.connect(create=False)
            yield self._session
