"""The plan of an audit as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from vecveil.attacks.probe import ProbeKind
from vecveil.audit.verdict import Tolerance
from vecveil.core.checks import at_least, fraction, one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.specs import parse_spec
from vecveil.mechanisms import MECHANISMS
from vecveil.mechanisms.grid import GRIDS
from vecveil.veil.blanks import MOST_BLANKS, MOST_CANDIDATES
from vecveil.veil.budget import Budget

ATTACKS = ("mlc,batch_size=256,epochs=60,patience=8", "nearest")
TASKS = ("known-item", "neighbors")
DEFENSES = ("laplace", "veil")
BASELINES = ("remove",)
SPARSE = "sparse"
"""The paper's method as a defense: its mask, learned on the audited texts, with words that stay."""

KEEP_UTILITY = 0.95
"""Share of the search that is kept where nothing else is asked for."""

PROBES: tuple[ProbeKind, ...] = ("linear", "mlp")


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """The grid that an audit fills: every attack, probe and task against every defense at every budget and seed.

    Attributes:
        attacks: Specs of attacks, `NAME[:PRIOR][,setting=value]`.
        tasks: Specs of utility tasks.
        budgets: What each mechanism may spend.
        defenses: "veil", "sparse" (the paper's), and mechanisms that add the same noise along every axis. No defense is
            always among them.
        baselines: Names of text-level baselines; "remove" is plain redaction.
        equal_search: Whether plain noise is as strong as the first task bears at what the veil keeps of it, in place of
            the budgets themselves: only then can leakage be compared.
        seeds: Each is a whole repetition: splits, noise, attackers.
        copies: Fresh releases of each training text that an attacker learns from: it knows the mechanism and can
            protect its own texts as often as it likes.
        grid: What releases are rounded to.
        keyed: Whether the noise of a text comes from a key, so that releasing it again tells nothing new.
        near_copies: Cosine from which two texts are near copies and stay on one side of every split; None where an
            attacker may know near copies of the texts that it is tested on, as the paper's may.
        tolerance: What may remain for a verdict of "pass".
        blanks: Texts that are asked about by someone who has all but one private value; 0 leaves that out.
        candidates: Values that may stand there, at most.
        examples: Texts whose readings are kept to be looked at.
        judge: Spec of the embedder that says how near a reconstruction comes; empty for none.
        keep_utility: Share of all searches for which the number of candidates is found that the owner must rerank; None
            to leave that out.
    """

    budgets: tuple[Budget, ...]
    attacks: tuple[str, ...] = ATTACKS
    tasks: tuple[str, ...] = TASKS
    defenses: tuple[str, ...] = DEFENSES
    baselines: tuple[str, ...] = BASELINES
    equal_search: bool = False
    seeds: tuple[int, ...] = (0,)
    copies: int = 2
    grid: str = "float32"
    keyed: bool = False
    near_copies: float | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    blanks: int = MOST_BLANKS
    candidates: int = MOST_CANDIDATES
    examples: int = 6
    judge: str = ""
    keep_utility: float | None = KEEP_UTILITY

    def __post_init__(self) -> None:
        for name in self.defenses:
            one_of(name, {"veil", SPARSE, *MECHANISMS.names()}, "defense")
            if name in MECHANISMS.names() and MECHANISMS.load(name).takes_shape:
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
        at_least(self.blanks, 0, "blanks")
        at_least(self.candidates, 2, "candidates")
        if self.equal_search and not self.tasks:
            raise InvalidInputError("plain noise that keeps as much search as the veil needs a task, got none")
        for name in ("near_copies", "keep_utility"):
            if getattr(self, name) is not None:
                fraction(getattr(self, name), name)

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
