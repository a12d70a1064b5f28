"""Every release passes the ledger: first whether it may be made, then, batch by batch, that it was."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vecveil.accounting.ledger import Charge, Ledger, default_ledger, open_ledger
from vecveil.core.progress import Progress, silent
from vecveil.veil.noise import KeyedNoise, row_tokens
from vecveil.veil.protection import Protection
from vecveil.veil.records import RecordBatch, text_contents

if TYPE_CHECKING:
    from vecveil.veil.veil import Veil

DEFAULT_LEDGER = "default"
"""Stands for the ledger of this user."""

BATCH = 8192


@dataclass(frozen=True, kw_only=True, eq=False)
class Recording:
    """One run of a protection, and the ledger that it is recorded in.

    Attributes:
        ledger: Where releases are recorded.
        protection: What makes them; keyed noise that was released before costs nothing again.
        run: Name of the run.
        collection: What ids belong to: 7 of one collection is another record than 7 of another.
    """

    ledger: Ledger
    protection: Protection
    run: str
    collection: str = ""

    def require(self, batches: Iterable[RecordBatch], *, first_row: int = 0, progress: Progress = silent) -> None:
        """Raise unless every record can afford what this run would cost it; nothing is recorded yet."""
        if self.ledger.limit is not None:
            self.ledger.require(self._charge, self._charged(batches, first_row), progress=progress)

    def spend(self, batch: RecordBatch, *, first_row: int = 0) -> None:
        """Record a batch, before its vectors are written anywhere; the same batch again changes nothing."""
        records, tokens = next(self._charged([batch], first_row))
        # A run stands in the ledger from its first release on: one that fails before that has cost nobody anything.
        self.ledger.begin(self._charge)
        self.ledger.spend(self._charge, first_row, records, tokens)

    @cached_property
    def _charge(self) -> Charge:
        return self.protection.charge(self.run)

    def _charged(self, batches: Iterable[RecordBatch], first_row: int) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Yield the digests of records and the names of their noise."""
        scope = self.collection.encode("utf-8", "surrogatepass") + b"\0"
        noise = self.protection.noise
        for batch in batches:
            if isinstance(noise, KeyedNoise) and batch.names is not None:
                # Salted like the records: what the key alone gives would be the same in every ledger and collection,
                # and tell whoever has two of them which records they share.
                tokens = self.ledger.digests([scope + token for token in noise.tokens(batch.names)])
            else:
                # Noise that is not known yet is taken to be new: a limit may refuse too much then, never too little.
                tokens = row_tokens(self.run, first_row, len(batch))
            yield self.ledger.digests([scope + identity for identity in batch.identities]), tokens
            first_row += len(batch)


def place_of(ledger: str | Path) -> str | Path:
    """Return where a ledger lies that was named by a path, a URL or "default"."""
    return default_ledger() if ledger == DEFAULT_LEDGER else ledger


@contextmanager
def opened(ledger: Ledger | str | Path) -> Iterator[Ledger]:
    """Yield an open ledger; one that is opened here is closed at the end."""
    if not isinstance(ledger, str | Path):
        yield ledger
        return
    with open_ledger(place_of(ledger)) as found:
        yield found


def record_learning(veil: Veil, texts: Sequence[str], ledger: Ledger) -> None:
    """Record that `veil` was learned on private texts: a release whose loss nobody has bounded."""
    charge = Charge(
        run=secrets.token_hex(16),
        kind="shape",
        veil=veil.digest(),
        mechanism=str(veil.provenance.learner["name"]),
        epsilon=None,
        distance=None,
        cost=None,
        noise="none",
    )
    ledger.begin(charge)
    for start in range(0, len(texts), BATCH):
        contents = RecordBatch.of(text_contents(texts[start : start + BATCH]), None)
        records = ledger.digests([b"\0" + identity for identity in contents.identities])
        ledger.spend(charge, start, records, row_tokens(charge.run, start, len(records)))
