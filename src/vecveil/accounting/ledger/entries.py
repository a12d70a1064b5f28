"""What is read out of a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vecveil.accounting.ledger.charge import Charge


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """One run, and how much of it is on record.

    Attributes:
        charge: What it costs each record.
        started: When it began, UTC.
        releases: Rows on record.
        records: Different records among them.
    """

    charge: Charge
    started: datetime
    releases: int
    records: int


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The ledger as a whole.

    Attributes:
        releases: Rows on record, over all runs.
        records: Different records among them.
        highest: The most that any one record has lost, in nats per unit of Euclidean distance.
    """

    releases: int
    records: int
    highest: float


@dataclass(frozen=True, kw_only=True)
class Release:
    """One row on record.

    Attributes:
        charge: What the run costs each record.
        row: Number of the row in the run's output, from 0.
        record: Salted digest of the record's id.
        token: Name of the noise.
        at: When it was recorded, UTC.
    """

    charge: Charge
    row: int
    record: bytes
    token: bytes
    at: datetime
