"""What one run costs each record that it releases."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from vecveil.core.checks import one_of, positive
from vecveil.core.errors import InvalidInputError

KINDS = ("release", "shape")
NOISES = ("fresh", "keyed", "seeded", "none")

UNIT = "nats per unit of Euclidean distance"
"""The unit of every cost and limit: epsilons of different veils are in different distances, and don't add up."""


def new_run() -> str:
    """Return a name for a run that no other has."""
    return secrets.token_hex(16)


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What one run costs each record that it releases.

    Attributes:
        run: Name of the run, 32 hexadecimal characters, made once and kept by whoever resumes it.
        kind: "release" for vectors; "shape" for a veil that was learned on private texts.
        veil: Digest of the veil.
        mechanism: Name of the mechanism.
        epsilon: Privacy loss per unit of `distance`; None for a shape, whose loss nobody has bounded.
        distance: Short name of the distance; None for a shape.
        cost: Worst-case loss in nats per unit of Euclidean distance, in which releases of different veils add up; None
            for a shape.
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
        one_of(self.kind, KINDS, "kind of charge")
        one_of(self.noise, NOISES, "kind of noise")
        if self.kind == "shape":
            if (self.epsilon, self.distance, self.cost) != (None, None, None):
                raise InvalidInputError(
                    "a shape has neither epsilon nor distance nor cost: nobody has bounded its loss"
                )
            return
        positive(self.epsilon, "epsilon")
        positive(self.cost, "cost")
        if not self.distance:
            raise InvalidInputError(f"a release needs the distance of its epsilon, got {self.distance!r}")
