"""The ledger, in either database."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import astuple
from datetime import UTC, datetime
from functools import lru_cache
from threading import RLock
from typing import Any

from vecveil.core.checks import at_least, not_negative
from vecveil.core.errors import BudgetExceededError, InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.ledger.entries import UNIT, Charge, LedgerEntry, RunSummary, Totals
from vecveil.ledger.session import SQL, Session

DIGEST_BYTES, PAGE_ROWS = 16, 10_000
TOLERANCE = 1 + 1e-9
"""Sums may exceed the limit by this factor: ten releases at 0.1 fit under a limit of 1, though they sum to more."""

OVER_LIMIT = SQL["over_limit"].format(losses=SQL["losses"])


class Ledger(AbstractContextManager["Ledger"]):
    """Every release on record, and the most that any one record may lose.

    A record is a salted digest of its id; a token names the noise of a release. Two releases with the same record and
    token are byte-identical, and cost once. Threads may share a ledger; a process that forks opens its own.

    Its `id` is 32 random hexadecimal characters; `where` is its path or URL, without user and password.
    """

    def __init__(self, session: Session, *, create: bool) -> None:
        self.where = session.where
        self._session: Session | None = session
        self._process = os.getpid()
        self._turn = RLock()
        try:
            self.id, self._salt = session.open_ledger(create=create)
        except BaseException:
            session.close()
            raise

    @property
    def limit(self) -> float | None:
        """The most that any one record may lose over all releases, in nats per unit of Euclidean distance."""
        with self._use() as session:
            limit = dict(session.rows(SQL["meta"])).get("limit")
        return None if limit is None else float(limit)

    def set_limit(self, nats: float | None) -> None:
        """Change the limit for everyone who uses this ledger; None removes it."""
        limit = None if nats is None else repr(not_negative(nats, "limit"))
        with self._use() as session, session.transaction():
            session.rows(SQL["drop_limit"])
            if limit is not None:
                session.rows(SQL["add_meta"], "limit", limit)

    def digests(self, identities: Sequence[bytes]) -> list[bytes]:
        """Return 16 bytes for each record id, keyed with the salt of this ledger."""
        return [hashlib.blake2b(one, key=self._salt, digest_size=DIGEST_BYTES).digest() for one in identities]

    def require(
        self, charge: Charge, batches: Iterable[tuple[Sequence[bytes], Sequence[bytes]]], *, progress: Progress = silent
    ) -> None:
        """Raise a BudgetExceededError if releasing all of these would bring any record over the limit.

        Nothing is written either way, and no other writer waits. Rows of this run that are on record already are not
        counted twice. `batches` has records and tokens of the whole run; without a limit or a cost it is not read.
        """
        if charge.cost is None or self.limit is None:
            return
        with self._use() as session:
            # A session of its own locks nothing while the caller reads its input, and takes what was staged with it.
            other = session.reopen()
        with closing(other):
            other.clear()
            for records, tokens in progress(batches, label="checking the budget", weigh=lambda batch: len(batch[0])):
                _check_digests(records, tokens)
                other.stage(0, records, tokens)
            # PostgreSQL expects a few rows unless it counts them.
            other.rows("ANALYZE staged")
            self._check_limit(other, charge)

    def spend(self, charge: Charge, first_row: int, records: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Put releases on record, all or none; when this returns, they survive a crash, and may be written.

        `first_row` is the number of the first row in the output of the run. The same rows again change nothing.

        Raises:
            BudgetExceededError: If any record would go over the limit.
            InvalidInputError: If the run has another charge on record, or one of the rows another record or token.
        """
        at_least(first_row, 0, "first_row")
        _check_digests(records, tokens)
        with self._use() as session:
            session.clear()
            session.stage(first_row, records, tokens)
            with session.transaction():
                session.rows(SQL["begin_run"], *astuple(charge), int(time.time()))
                ((number, *recorded),) = session.rows(SQL["run"], charge.run)
                if tuple(recorded) != astuple(charge):
                    raise InvalidInputError(f"run {charge.run} is on record with another charge; start a new run")
                ((clashes, first),) = session.rows(SQL["clashes"], number)
                if clashes:
                    other = f"{clashes:,} of these rows on record with another record or other noise"
                    raise InvalidInputError(f"run {charge.run} has {other}, first row {first:,}; start a new run")
                self._check_limit(session, charge)
                session.rows(SQL["record"], number, int(time.time()))

    def spent(self, records: Sequence[bytes]) -> list[float]:
        """Return what each record has lost so far, in nats per unit of Euclidean distance."""
        _check_digests(records, records)
        with self._use() as session:
            session.clear()
            session.stage(0, records, records)
            losses = {record: spent for record, spent, _ in session.rows(SQL["losses"], 0.0)}
        return [losses[record] for record in records]

    def runs(self) -> list[RunSummary]:
        """Return all runs, the oldest first."""
        with self._use() as session:
            found = session.rows(SQL["runs"])
        return [
            RunSummary(Charge(*charge), datetime.fromtimestamp(started, UTC), releases, records)
            for started, releases, records, *charge in found
        ]

    def totals(self) -> Totals:
        """Return the sums over all runs."""
        with self._use() as session:
            return Totals(*session.rows(SQL["totals"])[0])

    def releases(self) -> Iterator[LedgerEntry]:
        """Yield every release, run by run and row by row, at constant memory."""
        to_charge = lru_cache(Charge)
        page: list[tuple[Any, ...]] = [(0, -1)] * PAGE_ROWS
        while len(page) == PAGE_ROWS:
            with self._use() as session:
                page = session.rows(SQL["entries"], *page[-1][:2], PAGE_ROWS)
            for _, row, record, token, at, *charge in page:
                yield LedgerEntry(to_charge(*charge), row, record, token, datetime.fromtimestamp(at, UTC))

    def problems(self) -> list[str]:
        """Return what is wrong with the ledger, in words; nothing if all is well."""
        with self._use() as session:
            if damage := session.rows(session.FIND_DAMAGE):
                # The other answers of a damaged database can't be relied on.
                return [f"the database finds damage: {line}" for (line,) in damage]
            limit = self.limit
            limit = math.inf if limit is None else limit
            gaps, orphans = session.rows(SQL["gaps"]), session.rows(SQL["orphans"])
            overdrawn = session.rows(SQL["overdrawn"], limit * TOLERANCE)
        gap = "run {} has {:,} rows on record, numbered from {:,} to {:,}: some are missing"
        orphan = "releases that belong to a run that is not on record: {:,}"
        over = f"records over the limit of {limit:.6g} {UNIT}: {{:,}}; the highest has spent {{:.6g}}"
        return [text.format(*row) for text, rows in ((gap, gaps), (orphan, orphans), (over, overdrawn)) for row in rows]

    def close(self) -> None:
        """Close the database. May be called twice."""
        with self._turn:
            # After a fork it is the parent's, and a server would end the session for both.
            if self._session is not None and self._process == os.getpid():
                self._session.close()
                self._session = None

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _use(self) -> Iterator[Session]:
        """Yield the session to one thread at a time."""
        with self._turn:
            if self._process != os.getpid():
                # A connection that two processes talk through breaks either database.
                raise InvalidInputError(f"the ledger {self.where} was opened before a fork; open it in each process")
            if self._session is None:
                raise InvalidInputError(f"the ledger {self.where} is closed")
            if self._session.lost:
                self._session = self._session.reopen()
            yield self._session

    def _check_limit(self, session: Session, charge: Charge) -> None:
        """Raise if releasing what is staged would bring any record over the limit."""
        limit = self.limit
        if limit is None or charge.cost is None:
            return
        ((records, spent, total),) = session.rows(OVER_LIMIT, charge.cost, limit * TOLERANCE)
        if records:
            raise BudgetExceededError(records=records, cost=charge.cost, spent=spent, total=total, limit=limit)


def _check_digests(records: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    """Raise unless there is one token per record, and all are digests."""
    if len(records) != len(tokens):
        raise InvalidInputError(f"there must be one token per record, got {len(tokens)} for {len(records)} records")
    for row, pair in enumerate(zip(records, tokens, strict=True)):
        if any(not isinstance(one, bytes) or len(one) != DIGEST_BYTES for one in pair):
            raise InvalidInputError(f"a record and a token must be {DIGEST_BYTES} bytes each; row {row} is not")
