"""The plan of an audit as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from vecveil.attacks.probe import ProbeKind
from vecveil.core.checks import at_least, fraction, one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.specs import parse_spec
from vecveil.mechanisms import MECHANISMS
from vecveil.mechanisms.grid import GRIDS
from vecveil.veil.budget import Budget

DEFENSES = ("laplace", "purkayastha", "veil")
PROBES: tuple[ProbeKind, ...] = ("linear", "mlp")


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """The grid that an audit fills: every attack, probe and task against every defense at every budget and seed.

    Attributes:
        attacks: Specs of attacks, `NAME[:PRIOR][,setting=value]`.
        tasks: Specs of utility tasks.
        budgets: What each mechanism may spend.
        defenses: "veil", and mechanisms that add the same noise along every axis. No defense is always among them.
        baselines: Names of text-level baselines.
        seeds: Each is a whole repetition: splits, noise, attackers.
        copies: Fresh releases of each training text that an attacker learns from: it knows the mechanism and can
            protect its own texts as often as it likes.
        grid: What releases are rounded to.
        keyed: Whether the noise of a text comes from a key, so that releasing it again tells nothing new.
        near_copies: Cosine from which two texts are near copies and stay on one side of every split; None where an
            attacker may know near copies of the texts that it is tested on, as the paper's may.
        tolerance: Share of what an attack reads out of unprotected vectors that may remain for a verdict of "pass".
        examples: Texts whose readings are kept to be looked at.
        judge: Spec of the embedder that says how near a reconstruction comes; empty for none.
    """

    attacks: tuple[str, ...]
    tasks: tuple[str, ...]
    budgets: tuple[Budget, ...]
    defenses: tuple[str, ...] = DEFENSES
    baselines: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    copies: int = 2
    grid: str = "float32"
    keyed: bool = False
    near_copies: float | None = None
    tolerance: float = 0.2
    examples: int = 6
    judge: str = ""

    def __post_init__(self) -> None:
        for name in self.defenses:
            one_of(name, {"veil", *MECHANISMS.names()}, "defense")
            if name != "veil" and MECHANISMS.load(name).takes_shape:
                raise InvalidInputError(f"the mechanism {name!r} needs a shape, which only the veil has; name 'veil'")
        if not self.budgets:
            raise InvalidInputError("an audit needs a budget at least; name some with --epsilon or --noise-ratio")
        for name in ("attacks", "tasks", "budgets", "defenses", "baselines", "seeds"):
            # Budgets must differ in what tables call them, or their rows could not be told apart.
            values = [one.asked if isinstance(one, Budget) else one for one in getattr(self, name)]
            twice = next((value for number, value in enumerate(values) if value in values[:number]), None)
            if twice is not None:
                raise InvalidInputError(f"{name} of an audit must differ, got {twice!r} twice")
        if not self.seeds:
            raise InvalidInputError("an audit needs a seed at least, got none")
        for seed in self.seeds:
            at_least(seed, 0, "seed")
        one_of(self.grid, GRIDS, "grid")
        at_least(self.copies, 1, "copies")
        at_least(self.examples, 0, "examples")
        fraction(self.tolerance, "tolerance")
        if self.near_copies is not None:
            fraction(self.near_copies, "near_copies")

    @property
    def attack_labels(self) -> dict[str, str]:
        """How results name each attack: by its name, numbered where several have the same, never with its prior."""
        specs: dict[str, list[str]] = {}
        for spec in self.attacks:
            specs.setdefault(parse_spec(spec, "attack").name, []).append(spec)
        return {
            spec: name if len(same) == 1 else f"{name} {number}"
            for name, same in specs.items()
            for number, spec in enumerate(same, start=1)
        }

    def settings(self) -> dict[str, Any]:
        """Return the plan as JSON takes it."""
        return asdict(self)
