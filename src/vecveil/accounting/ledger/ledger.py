"""What every ledger does, whatever database it lies in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self

from vecveil.accounting.ledger.charge import Charge
from vecveil.accounting.ledger.entries import Release, RunSummary, Totals
from vecveil.core.progress import Progress, silent


class Ledger(Protocol):
    """Every release on record, and the most that any one record may lose.

    A record is a salted digest of its id; a token names the noise of a release. Two releases with the same record and
    token are byte-identical, and cost once. May be shared by threads; a process that forks opens its own.
    """

    @property
    def id(self) -> str:
        """Name of this ledger, 32 random hexadecimal characters."""
        ...

    @property
    def where(self) -> str:
        """Where it lies, fit to be shown: without user and password."""
        ...

    @property
    def limit(self) -> float | None:
        """The most that any one record may lose over all releases, in nats per unit of Euclidean distance."""
        ...

    def set_limit(self, nats: float | None) -> None:
        """Change the limit for everyone who uses this ledger; None takes it away."""
        ...

    def digests(self, identities: Sequence[bytes]) -> list[bytes]:
        """Return 16 bytes for each record id, keyed with the salt of this ledger."""
        ...

    def begin(self, charge: Charge) -> None:
        """Put a run on record; the same again changes nothing.

        Raises:
            InvalidInputError: If the run is on record with another charge.
        """
        ...

    def require(
        self,
        charge: Charge,
        batches: Iterable[tuple[Sequence[bytes], Sequence[bytes]]],
        *,
        progress: Progress = silent,
    ) -> None:
        """Raise if releasing all of these would bring any record over the limit; nothing is written either way.

        Rows that this run has on record already are not counted twice, and no one else has to wait.

        Args:
            charge: What each release costs.
            batches: Records and tokens of the whole run. Not looked at where there is no limit, or no cost.
            progress: Told how far the work is.

        Raises:
            BudgetExceededError: With the number of such records.
        """
        ...

    def spend(self, charge: Charge, first_row: int, records: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Put releases on record, all or none; when this returns, they survive a crash, and may be written.

        The same rows again change nothing.

        Args:
            charge: What each release costs; its run has begun.
            first_row: Number of the first row in the run's output.
            records: Digests of the record ids.
            tokens: Names of their noise.

        Raises:
            BudgetExceededError: If any record would go over the limit.
            InvalidInputError: If one of the rows is on record with another record or token.
        """
        ...

    def spent(self, records: Sequence[bytes]) -> list[float]:
        """Return what each record has lost so far, in nats per unit of Euclidean distance."""
        ...

    def runs(self) -> list[RunSummary]:
        """Return all runs, the oldest first."""
        ...

    def totals(self) -> Totals:
        """Return the sums over all runs."""
        ...

    def releases(self) -> Iterator[Release]:
        """Yield every release, run by run and row by row, at constant memory."""
        ...

    def problems(self) -> list[str]:
        """Return what is wrong with the ledger, in words; nothing if all is well."""
        ...

    def close(self) -> None:
        """Give the database back. May be called twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
