"""Charges, entries and sums of a ledger."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from vecveil.core.checks import one_of, positive
from vecveil.core.errors import InvalidInputError

UNIT = "nats per unit of Euclidean distance"
"""The unit of every cost and limit: epsilons of different veils are in different distances, and don't add up."""


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
        epsilon: Privacy loss per unit of `distance`; None for a shape, whose loss nobody has bounded.
        distance: Short name of the distance; None for a shape.
        cost: Worst-case loss in nats per unit of Euclidean distance, which adds up over veils; None for a shape.
        noise: "fresh", "keyed" or "seeded"; "none" where there is none, as for a shape.
    """

    run: str
    kind: str
    veil: str
    mechanism: str
    epsilon: float | None
    distance: str | None
    cost: float | None
    noise: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{32}", self.run):
            raise InvalidInputError(f"run must be 32 hexadecimal characters, got {self.run!r}")
        one_of(self.kind, ("release", "shape"), "kind of charge")
        one_of(self.noise, ("fresh", "keyed", "seeded", "none"), "kind of noise")
        bounds = self.epsilon, self.distance, self.cost
        if self.kind == "shape" and bounds != (None, None, None):
            raise InvalidInputError("a shape has no epsilon, distance or cost: nobody has bounded its loss")
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
    """Sums over all runs: rows, different records, and the most that any one record has lost (in `UNIT`)."""

    releases: int
    records: int
    highest: float


class LedgerEntry(NamedTuple):
    """One row on record: its number in the output of its run, digest of the record's id, name of the noise, time."""

    charge: Charge
    row: int
    record: bytes
    token: bytes
    at: datetime
