"""The ledger, in either database."""

from __future__ import annotations

import hashlib
import math
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import astuple
from datetime import UTC, datetime
from functools import lru_cache
from threading import RLock
from typing import Any

from vecveil.core.checks import at_least, not_negative, one_of
from vecveil.core.errors import BudgetExceededError, InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.ledger.entries import RENAMED, UNIT, WORD_UNIT, Charge, LedgerEntry, RunSummary, Totals
from vecveil.ledger.session import SQL, Session

DIGEST_BYTES, PAGE_ROWS = 16, 10_000
START = bytes(32)
"""Head of the chain before the first release."""

TOLERANCE = 1 + 1e-9
"""Sums may exceed the limit by this factor: ten releases at 0.1 fit under a limit of 1, though they sum to more."""

LOSSES = {by: SQL["losses"].format(by=by, times="1", recorded="runs.cost") for by in ("record", "vector")}
WORD_LOSSES = SQL["losses"].format(by="record", times="words", recorded="runs.word_epsilon * releases.words")


class Ledger(AbstractContextManager["Ledger"]):
    """Every release on record, and the most that any one record may lose.

    A record is a salted digest of its id, a vector one of what was noised; a token names the noise of a release. Two
    releases with the same record and token are byte-identical, and cost once. The limit holds for records, and for
    vectors by whichever names they are released. Threads may share a ledger; a process that forks opens its own.

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
        return self._read_limit("limit")

    def set_limit(self, nats: float | None) -> None:
        """Change the limit for everyone who uses this ledger; None removes it."""
        self._set("limit", None if nats is None else repr(not_negative(nats, "limit")))

    @property
    def word_limit(self) -> float | None:
        """The most that any one record may lose over all its private words, in nats."""
        return self._read_limit("word_limit")

    def set_word_limit(self, nats: float | None) -> None:
        """Change the limit of private words for everyone who uses this ledger; None removes it."""
        self._set("word_limit", None if nats is None else repr(not_negative(nats, "word_limit")))

    @property
    def renamed(self) -> str:
        """What becomes of a vector that returns as another record: "warn" or "refuse"."""
        with self._use() as session:
            return str(dict(session.rows(SQL["meta"])).get("renamed", RENAMED[0]))

    def set_renamed(self, choice: str) -> None:
        """Change what becomes of a vector that returns as another record, for everyone who uses this ledger."""
        self._set("renamed", one_of(choice, RENAMED, "choice"))

    @property
    def head(self) -> str:
        """The newest link of the chain, in hexadecimal: it stands for all releases up to now."""
        with self._use() as session:
            return _head(session).hex()

    def knows(self, head: str) -> bool:
        """Return whether a head was ever the newest of this ledger."""
        with self._use() as session:
            return bool(re.fullmatch(r"[0-9a-f]{64}", head) and session.rows(SQL["find_head"], bytes.fromhex(head)))

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
        if not self._is_limited(charge):
            return
        with self._use() as session:
            # A session of its own locks nothing while the caller reads its input, and takes what was staged with it.
            other = session.reopen()
        with closing(other):
            other.clear()
            for records, tokens in progress(batches, label="checking the budget", weigh=lambda batch: len(batch[0])):
                other.stage(_to_rows(0, records, tokens, records))
            # PostgreSQL expects a few rows unless it counts them.
            other.rows("ANALYZE staged")
            self._check_limit(other, charge)

    def spend(
        self,
        charge: Charge,
        first_row: int,
        records: Sequence[bytes],
        tokens: Sequence[bytes],
        *,
        vectors: Sequence[bytes] | None = None,
        words: Sequence[int] | None = None,
    ) -> int:
        """Put releases on record, all or none; when this returns, they survive a crash, and may be written.

        `first_row` is the number of the first row in the output of the run. The same rows again change nothing. Where
        it isn't known which vectors were noised, `vectors` is None; `words` is how many private values were replaced in
        each text. Returns how many of the vectors are on record under another name.

        Raises:
            BudgetExceededError: If any record or vector would go over the limit.
            InvalidInputError: If the run has another charge on record, one of the rows another record or token, or a
                vector another name where this ledger refuses that.
        """
        at_least(first_row, 0, "first_row")
        rows = _to_rows(first_row, records, tokens, records if vectors is None else vectors, words)
        with self._use() as session:
            session.clear()
            session.stage(rows)
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
                renamed = self._check_names(session, charge)
                if session.rows(SQL["record"], number, int(time.time())):
                    session.rows(SQL["add_link"], number, first_row, len(rows), _link(_head(session), charge, rows))
        return renamed

    def spent(self, records: Sequence[bytes]) -> list[float]:
        """Return what each record has lost so far, in nats per unit of Euclidean distance."""
        with self._use() as session:
            session.clear()
            session.stage(_to_rows(0, records, records, records))
            losses = {record: spent for record, spent, _ in session.rows(LOSSES["record"], 0.0)}
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
            for _, row, record, token, words, at, *charge in page:
                yield LedgerEntry(to_charge(*charge), row, record, token, words, datetime.fromtimestamp(at, UTC))

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
        found = [(gap, gaps), (orphan, orphans), (over, overdrawn)]
        return [text.format(*row) for text, rows in found for row in rows] + self._broken_links()

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

    def _read_limit(self, name: str) -> float | None:
        with self._use() as session:
            limit = dict(session.rows(SQL["meta"])).get(name)
        return None if limit is None else float(limit)

    def _is_limited(self, charge: Charge) -> bool:
        return bool((charge.cost and self.limit is not None) or (charge.word_epsilon and self.word_limit is not None))

    def _set(self, name: str, value: str | None) -> None:
        with self._use() as session, session.transaction():
            session.rows(SQL["drop_meta"], name)
            if value is not None:
                session.rows(SQL["add_meta"], name, value)

    def _check_limit(self, session: Session, charge: Charge) -> None:
        """Raise if releasing what is staged would bring any record or vector over a limit."""
        checks = [(losses, charge.cost, self.limit, UNIT) for losses in LOSSES.values()]
        for losses, cost, limit, unit in [*checks, (WORD_LOSSES, charge.word_epsilon, self.word_limit, WORD_UNIT)]:
            if not cost or limit is None:
                continue
            over = SQL["over_limit"].format(losses=losses)
            ((records, spent, total),) = session.rows(over, cost, limit * TOLERANCE)
            if records:
                raise BudgetExceededError(records=records, cost=cost, spent=spent, total=total, limit=limit, unit=unit)

    def _check_names(self, session: Session, charge: Charge) -> int:
        """Return how many of the staged vectors are on record as another record; raise where that is refused."""
        ((renamed, first),) = (session.rows(SQL["renamed"]) if charge.kind == "release" else []) or [(0, 0)]
        if renamed and self.renamed == "refuse":
            raise InvalidInputError(
                f"{renamed:,} of these vectors are on record under another name (another id or collection, or none), "
                f"first row {first:,}; the ledger {self.where} refuses that"
            )
        return int(renamed)

    def _broken_links(self) -> list[str]:
        """Return where the chain does not fit the releases, in words; all of it is computed again."""
        head = START
        page: list[tuple[Any, ...]] = [(0,)] * PAGE_ROWS
        while len(page) == PAGE_ROWS:
            with self._use() as session:
                page = session.rows(SQL["links"], page[-1][0], PAGE_ROWS)
            for number, run, place, rows, found, *charge in page:
                with self._use() as session:
                    linked = session.rows(SQL["linked"], run, place, place + rows)
                if charge[0] is None or (head := _link(head, Charge(*charge), linked)) != found:
                    return [f"the chain breaks at link {number}: what was recorded then, or before, was changed since"]
        return []


def _head(session: Session) -> bytes:
    found = session.rows(SQL["head"])
    return found[0][0] if found else START


def _link(head: bytes, charge: Charge, rows: Iterable[tuple[Any, ...]]) -> bytes:
    """Return the head of the chain behind a batch of rows: places, records, tokens, vectors and words."""
    digest = hashlib.sha256(head + repr(astuple(charge)).encode())
    for place, *digests, words in rows:
        digest.update(place.to_bytes(8, "big") + words.to_bytes(8, "big") + b"".join(digests))
    return digest.digest()


def _to_rows(
    first: int,
    records: Sequence[bytes],
    tokens: Sequence[bytes],
    vectors: Sequence[bytes],
    words: Sequence[int] | None = None,
) -> list[tuple[Any, ...]]:
    """Return numbered rows, or raise unless the columns are equally long and hold digests."""
    counts = [0] * len(records) if words is None else words
    if not len(records) == len(tokens) == len(vectors) == len(counts):
        sizes = f"{len(tokens)} tokens, {len(vectors)} vectors and {len(counts)} counts"
        raise InvalidInputError(f"there must be one token per record, got {sizes} for {len(records)} records")
    for column in (records, tokens, vectors):
        for row, one in enumerate(column):
            if not isinstance(one, bytes) or len(one) != DIGEST_BYTES:
                raise InvalidInputError(f"a record, token or vector must be {DIGEST_BYTES} bytes; row {row} is not")
    return list(zip(range(first, first + len(records)), records, tokens, vectors, counts, strict=True))
