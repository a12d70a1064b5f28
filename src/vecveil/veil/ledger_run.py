"""One run of releases in a ledger."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from vecveil.accounting import GaussianLoss
from vecveil.core.errors import BudgetExceededError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.ledger import Charge, Ledger, default_ledger, new_run, open_ledger

DEFAULT_LEDGER, NO_LEDGER = "default", "none"
"""Stand for the ledger of this user, and for none."""

HEAD = "ledger_head"
"""In the label of an output, the head of the ledger's chain when it was finished."""

TOKEN_BYTES = 16
BATCH = 8192


@dataclass(eq=False)
class _OpenRun:
    """A run in one process."""

    ledger: Ledger
    charge: Charge
    rows: int = 0
    warned: bool = False
    lock: Lock = field(default_factory=Lock)


class LedgerRun:
    """The releases of one program or one file, numbered as they come. May be shared by threads.

    A ledger that is named is opened when it is first needed, and again in a process that was forked: two processes that
    share a connection would break it, and would number their rows alike.

    Args:
        ledger: Where releases are recorded: an open ledger, or a path or a URL.
        charge: What each release costs, with the name of the run.
        collection: What ids belong to: 7 of one collection is another record than 7 of another.
    """

    def __init__(self, ledger: Ledger | str | Path, charge: Charge, *, collection: str = "") -> None:
        self._ledger, self._charge = ledger, charge
        self._collection = collection
        self._scope = collection.encode("utf-8", "surrogatepass") + b"\0"
        self._process = os.getpid()
        # One of each for every process. A fork keeps those of its parent, unused: the thread that may hold the lock is
        # not there, and closing the ledger would close it for the parent.
        self._locks: dict[int, Lock] = {}
        self._runs: dict[int, _OpenRun] = {}

    @property
    def id(self) -> str:
        """Name of the ledger."""
        return self.open().ledger.id

    def notes(self) -> dict[str, str]:
        """Return what a finished output says of the ledger."""
        return {HEAD: self.open().ledger.head}

    def open(self) -> _OpenRun:
        """Return the run of this process; its ledger is opened where it is not yet."""
        process = os.getpid()
        with self._locks.setdefault(process, Lock()):
            if process not in self._runs:
                charge = self._charge if process == self._process else replace(self._charge, run=new_run())
                ledger = self._ledger
                if isinstance(ledger, str | Path):
                    ledger = open_ledger(ledger)
                self._runs[process] = _OpenRun(ledger, charge)
            return self._runs[process]

    def resume(self, charge: Charge, rows: int) -> None:
        """Go on with a run of which an earlier process has recorded so many rows."""
        run = self.open()
        run.charge, run.rows = charge, rows

    def for_vectors(self) -> LedgerRun:
        """Return a run of its own in the same ledger, of releases in which no words are replaced."""
        charge = replace(self._charge, run=new_run(), word_epsilon=None)
        return LedgerRun(self._ledger, charge, collection=self._collection)

    def close(self) -> None:
        """Close a ledger that was opened here; a release after that is of another run."""
        run = self._runs.get(os.getpid())
        if run is not None and isinstance(self._ledger, str | Path):
            self._charge = replace(self._charge, run=new_run())
            del self._runs[os.getpid()]
            run.ledger.close()

    def check(
        self, batches: Iterable[tuple[Sequence[bytes], Sequence[bytes] | None]], *, progress: Progress = silent
    ) -> None:
        """Raise unless every record can afford the whole run; nothing is recorded yet.

        Args:
            batches: The ids of all records, and the tokens of their noise where they are known. Noise that is not known
                yet is taken to be new.
            progress: Told how far the work is.
        """
        run = self.open()

        def digests() -> Iterator[tuple[list[bytes], list[bytes]]]:
            row = run.rows
            for ids, tokens in batches:
                yield self._digests(run, ids, tokens, row)
                row += len(ids)

        run.ledger.require(run.charge, digests(), progress=progress)

    def spend(
        self,
        ids: Sequence[bytes],
        tokens: Sequence[bytes] | None,
        vectors: Sequence[bytes] | None = None,
        words: Sequence[int] | None = None,
    ) -> None:
        """Put releases on record, all or none, before any of them is given away.

        Args:
            ids: What the ledger knows the records by.
            tokens: Names of their noise, which cost once however often they are released; None for fresh noise.
            vectors: Digests of what gets the noise, by which the ledger sees that a vector returns under another name.
            words: How many private values were replaced in each text.

        Raises:
            BudgetExceededError: If any record or vector would go over the ledger's limit.
        """
        run = self.open()
        # Rows of a run are numbered without gaps, so one that is refused must not have taken numbers.
        with run.lock:
            try:
                records, names = self._digests(run, ids, tokens, run.rows)
                known = None if vectors is None else run.ledger.digests(vectors)
                renamed = run.ledger.spend(run.charge, run.rows, records, names, vectors=known, words=words)
            except BudgetExceededError:
                raise
            except BaseException:
                # It may have been written all the same, as when a connection is lost while it says so. The next release
                # begins a run of its own, or it would claim the same numbers.
                run.charge, run.rows = replace(run.charge, run=new_run()), 0
                raise
            run.rows += len(ids)
        if renamed and not run.warned:
            run.warned = True
            warnings.warn(
                f"the ledger knows {renamed:,} of these vectors by another name (another id or collection, or none): "
                "equal records, or one record by two names? Its limit counts them together",
                VecveilWarning,
                stacklevel=2,
            )

    def _digests(
        self, run: _OpenRun, ids: Sequence[bytes], tokens: Sequence[bytes] | None, first_row: int
    ) -> tuple[list[bytes], list[bytes]]:
        records = run.ledger.digests([self._scope + one for one in ids])
        if tokens is None:
            return records, _row_tokens(run.charge.run, first_row, len(ids))
        # Salted like the records: what the key alone gives would be the same in every ledger, and tell whoever has two
        # of them which records they share.
        return records, run.ledger.digests(tokens)


def choose_ledger(given: Ledger | str | Path | None) -> Ledger | str | Path | None:
    """Return where releases are recorded: where `given` says, or else where $VECVEIL_LEDGER does; None for nowhere."""
    chosen = given if given is not None else default_ledger(NO_LEDGER)
    if chosen == DEFAULT_LEDGER:
        return default_ledger()
    return None if chosen == NO_LEDGER else chosen


def record_learning(
    ledger: Ledger | str | Path, ids: Sequence[bytes], *, veil: str, learner: str, losses: Mapping[str, GaussianLoss]
) -> None:
    """Record that a veil was learned on private texts, with what is bounded of its loss."""
    delta = sum(loss.delta for loss in losses.values())
    charge = Charge(
        run=new_run(),
        kind="shape",
        veil=veil,
        mechanism=learner,
        epsilon=sum(loss.epsilon for loss in losses.values()) or None,
        distance=f"one text, {' and '.join(losses)} alone, delta {delta:g}" if losses else None,
        cost=None,
        noise="none",
    )
    run = LedgerRun(ledger, charge)
    try:
        for start in range(0, len(ids), BATCH):
            run.spend(ids[start : start + BATCH], None)
    finally:
        run.close()


def _row_tokens(run: str, first_row: int, rows: int) -> list[bytes]:
    """Return a name for the noise of each row of a run that draws afresh; a resumed run gives the same names."""
    start = bytes.fromhex(run)
    places = range(first_row, first_row + rows)
    return [hashlib.blake2b(start + row.to_bytes(8, "little"), digest_size=TOKEN_BYTES).digest() for row in places]
