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

WORD_UNIT = "nats, over all private words of a record"

RENAMED = ("warn", "refuse")
"""What may become of a vector that is released again as another record."""


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
