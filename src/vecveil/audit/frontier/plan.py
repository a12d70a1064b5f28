"""What is compared, at which levels of utility, under which attackers: plain data that can be compared and kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from vecveil.audit.frontier.contender import Contender
from vecveil.audit.prepare import attack_of
from vecveil.core.checks import at_least, fraction
from vecveil.core.errors import InvalidInputError

LEVELS = (0.99, 0.97, 0.95, 0.90)
CONTENDERS = ("uniform", "hard-concrete:paper", "canonical")
GUIDE = "mlc,batch_size=256,epochs=40,patience=6"
GUIDES = (GUIDE, "nearest")
"""Attacks of two kinds, so that what is left out is not fitted to one of them."""


@dataclass(frozen=True, kw_only=True)
class FrontierPlan:
    """Every contender at every level of utility, under every attack, for every seed.

    Attributes:
        contenders: Shape learners, `NAME[:PRESET][,setting=value…]`. Where the number of directions to leave out is
            free, it is chosen for each level by what the guides read in a split of its own.
        attacks: Specs of attacks; the strongest of them counts, for each contender and level.
        levels: Shares of undefended utility.
        tasks: Specs of the utility tasks; none to measure search in the texts themselves, apart from the concept.
        guides: Attacks by which numbers of directions are chosen: the mean of what they read counts.
        seeds: Each is a repetition with its own split, shapes, noise and attackers.
        copies: Fresh releases of each training text that attackers learn from.
        near_copies: Cosine from which two texts are near copies, which stay on one side of every split; None splits
            text by text.
    """

    contenders: tuple[str, ...] = CONTENDERS
    attacks: tuple[str, ...] = ("mlc", "nearest")
    levels: tuple[float, ...] = LEVELS
    tasks: tuple[str, ...] = ()
    guides: tuple[str, ...] = GUIDES
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    copies: int = 2
    near_copies: float | None = None

    def __post_init__(self) -> None:
        for name in ("contenders", "attacks", "levels", "guides", "seeds"):
            values = getattr(self, name)
            if not values:
                raise InvalidInputError(f"a frontier needs one of its {name} at least, got none")
            if len(set(values)) < len(values):
                raise InvalidInputError(f"{name} of a frontier must differ, got {', '.join(map(str, values))}")
        for spec in self.contenders:
            Contender(spec)
        for spec in (*self.attacks, *self.guides):
            attack_of(spec)
        for level in self.levels:
            fraction(level, "level")
        for seed in self.seeds:
            at_least(seed, 0, "seed")
        at_least(self.copies, 1, "copies")
        if self.near_copies is not None:
            fraction(self.near_copies, "near_copies")

    def settings(self) -> dict[str, Any]:
        """Return the plan as JSON takes it."""
        return asdict(self)
