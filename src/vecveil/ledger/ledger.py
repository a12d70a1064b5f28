"""The ledger in either database, its charges, entries and sums."""

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from threading import RLock
from typing import Any, NamedTuple

from vecveil.core.checks import at_least, not_negative, one_of, positive
from vecveil.core.errors import BudgetExceededError, InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.ledger.session import SQL, Session

UNIT = "nats per unit of Euclidean distance"
"""The unit of every cost and limit: epsilons of different veils are in different distances, and don't add up."""

WORD_UNIT = "nats, over all private words of a record"

RENAMED = ("warn", "refuse")
"""What may become of a vector that is released again as another record."""

DIGEST_BYTES, PAGE_ROWS = 16, 10_000
Digests = Sequence[bytes]

TOLERANCE = 1 + 1e-9
"""Sums may exceed the limit by this factor: ten releases at 0.1 fit under a limit of 1, though they sum to more."""

LOSSES = {by: SQL["losses"].format(by=by, times="1", recorded="runs.cost") for by in ("record", "vector")}
WORD_LOSSES = SQL["losses"].format(by="record", times="words", recorded="runs.word_epsilon * releases.words")


def new_run() -> str:
    """Return a random name for a run."""
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Charge:
    """The cost of one run to each record that it releases.

    Attributes:
        run: Name of the run, 32 hexadecimal characters; a run that is resumed keeps it.
        kind: "release" for vectors; "shape" for a veil that was learned on private texts.
        veil: Digest of the veil.
        mechanism: Name of the mechanism.
        epsilon: Privacy loss per unit of `distance`; of a shape, for one text, where any of it is bounded, else None.
        distance: Short name of the distance; of a shape, what of it is bounded.
        cost: Worst-case loss in nats per unit of Euclidean distance, which adds up over veils; None for a shape.
        noise: "fresh", "keyed" or "seeded"; "none" where there is none, as for a shape.
        word_epsilon: Loss of each private word that was replaced before the model read it, in nats; None where words
            stay, so that nothing is promised of them but through the vector.
    """

    run: str
    kind: str
    veil: str
    mechanism: str
    epsilon: float | None
    distance: str | None
    cost: float | None
    noise: str
    word_epsilon: float | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{32}", self.run):
            raise InvalidInputError(f"run must be 32 hexadecimal characters, got {self.run!r}")
        one_of(self.kind, ("release", "shape"), "kind of charge")
        one_of(self.noise, ("fresh", "keyed", "seeded", "none"), "kind of noise")
        if self.kind == "shape" and (self.cost is not None or (self.epsilon is None) != (self.distance is None)):
            raise InvalidInputError("a shape has no cost, and an epsilon only together with what it is of")
        if self.kind == "release":
            positive(self.epsilon, "epsilon")
            positive(self.cost, "cost")
            if not self.distance:
                raise InvalidInputError(f"a release needs the distance of its epsilon, got {self.distance!r}")


class RunSummary(NamedTuple):
    """One run: its charge, when it started (UTC), its rows on record, and the different records among them."""

    charge: Charge
    started: datetime
    releases: int
    records: int


class Totals(NamedTuple):
    """Sums over all runs: rows, different records, and the most that any one record has lost.

    Once in `UNIT`, through its vectors, and once in nats, over all its private words together.
    """

    releases: int
    records: int
    highest: float
    highest_words: float = 0.0


class LedgerEntry(NamedTuple):
    """One row on record: its place in the output of its run, digest of its id, name of its noise, words replaced."""

    charge: Charge
    row: int
    record: bytes
    token: bytes
    words: int
    at: datetime


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
            self._start = hashlib.sha256(self.id.encode() + self._salt).digest()
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
        return str(dict(self._query("meta")).get("renamed", RENAMED[0]))

    def set_renamed(self, choice: str) -> None:
        """Change what becomes of a vector that returns as another record, for everyone who uses this ledger."""
        self._set("renamed", one_of(choice, RENAMED, "choice"))

    @property
    def head(self) -> str:
        """The newest link of the chain, in hexadecimal: it stands for all releases and limits up to now."""
        return bytes(self._query("head", self._start)[0][0]).hex()

    def knows(self, head: str) -> bool:
        """Return whether a head was ever the newest of this ledger."""
        return bool(re.fullmatch(r"[0-9a-f]{64}", head) and self._query("find_head", bytes.fromhex(head)))

    def digests(self, ids: Digests) -> list[bytes]:
        """Return 16 bytes for each record id, keyed with the salt of this ledger."""
        return [hashlib.blake2b(one, key=self._salt, digest_size=DIGEST_BYTES).digest() for one in ids]

    def require(
        self, charge: Charge, batches: Iterable[tuple[Digests, Digests]], *, progress: Progress = silent
    ) -> None:
        """Raise a BudgetExceededError if releasing all of these would bring any record over the limit.

        Nothing is written either way, and no other writer waits. Rows of this run that are on record already are not
        counted twice. `batches` has records and tokens of the whole run; without a limit or a cost it is not read.
        """
        if not charge.cost or self.limit is None:
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
        records: Digests,
        tokens: Digests,
        *,
        vectors: Digests | None = None,
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
                    ((head,),) = session.rows(SQL["head"], self._start)
                    session.rows(SQL["add_link"], number, first_row, len(rows), None, _link(head, charge, rows))
        return renamed

    def runs(self) -> list[RunSummary]:
        """Return all runs, the oldest first."""
        return [
            RunSummary(Charge(*charge), datetime.fromtimestamp(started, UTC), releases, records)
            for started, releases, records, *charge in self._query("runs")
        ]

    def totals(self) -> Totals:
        """Return the sums over all runs."""
        return Totals(*self._query("totals")[0])

    def releases(self) -> Iterator[LedgerEntry]:
        """Yield every release, run by run and row by row, at constant memory."""
        to_charge = lru_cache(Charge)
        for _, row, record, token, words, at, *charge in self._read_pages("entries", (0, -1)):
            yield LedgerEntry(to_charge(*charge), row, record, token, words, datetime.fromtimestamp(at, UTC))

    def problems(self) -> list[str]:
        """Return what is wrong with the ledger, in words; nothing if all is well."""
        with self._use() as session:
            if damage := session.rows(session.FIND_DAMAGE):
                # The other answers of a damaged database can't be relied on.
                return [f"the database finds damage: {line}" for (line,) in damage]
            limits = [(self.limit, "spent", UNIT), (self.word_limit, "words_spent", WORD_UNIT)]
            overdrawn = [
                f"records over the limit of {limit:.6g} {unit}: {records:,}; the highest has spent {highest:.6g}"
                for limit, spent, unit in limits
                if limit is not None
                for records, highest in session.rows(SQL["overdrawn"].format(spent=spent), limit * TOLERANCE)
            ]
        return overdrawn + self._find_broken_links()

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
        limit = dict(self._query("meta")).get(name)
        return None if limit is None else float(limit)

    def _set(self, name: str, value: str | None) -> None:
        setting = json.dumps([name, value])
        with self._use() as session, session.transaction():
            session.rows(SQL["drop_meta"], name)
            if value is not None:
                session.rows(SQL["add_meta"], name, value)
            ((head,),) = session.rows(SQL["head"], self._start)
            session.rows(SQL["add_link"], 0, 0, 0, setting, _link(head, setting, ()))

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

    def _find_broken_links(self) -> list[str]:
        """Return where the chain does not fit releases and settings, in words; all of it is computed again."""
        head, settings = self._start, dict.fromkeys(("limit", "word_limit", "renamed"))
        for number, run, place, rows, setting, found, name, *charge in self._read_pages("links", (0,)):
            content = setting or (name and Charge(name, *charge))
            linked = self._query("linked", run, place, place + rows)
            if content is None or (head := _link(head, content, linked)) != found:
                of = "a setting" if setting else f"run {name or run}"
                return [f"the chain breaks at link {number}, of {of}: it, or what is before it, was changed"]
            settings.update([json.loads(setting)] if setting else [])
        meta = dict(self._query("meta"))
        changed = [name for name, value in settings.items() if meta.get(name) != value]
        return [f"these settings were changed past the ledger: {', '.join(changed)}"] if changed else []

    def _query(self, name: str, *values: object) -> list[tuple[Any, ...]]:
        with self._use() as session:
            return session.rows(SQL[name], *values)

    def _read_pages(self, name: str, first: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows behind a first one, at constant memory: each page goes on after the last row of the other."""
        page: list[tuple[Any, ...]] = [first] * PAGE_ROWS
        while len(page) == PAGE_ROWS:
            page = self._query(name, *page[-1][: len(first)], PAGE_ROWS)
            yield from page


def _link(head: bytes, content: Charge | str, rows: Iterable[tuple[Any, ...]]) -> bytes:
    """Return the head behind a setting, or a batch of rows: places, records, tokens, vectors and words."""
    digest = hashlib.sha256(head + repr(content if isinstance(content, str) else astuple(content)).encode())
    for place, *digests, words in rows:
        digest.update(place.to_bytes(8, "big") + words.to_bytes(8, "big") + b"".join(digests))
    return digest.digest()


def _to_rows(
    first: int, records: Digests, tokens: Digests, vectors: Digests, words: Sequence[int] | None = None
) -> list[tuple[Any, ...]]:
    """Return numbered rows, or raise unless the columns are equally long and hold digests."""
    counts = [0] * len(records) if words is None else words
    if not len(records) == len(tokens) == len(vectors) == len(counts):
        raise InvalidInputError(f"there must be one token per record, got {len(tokens)} for {len(records)} records")
    for column in (records, tokens, vectors):
        for row, one in enumerate(column):
            if not isinstance(one, bytes) or len(one) != DIGEST_BYTES:
                raise InvalidInputError(f"a record, token or vector must be {DIGEST_BYTES} bytes; row {row} is not")
    return list(zip(range(first, first + len(records)), records, tokens, vectors, counts, strict=True))
