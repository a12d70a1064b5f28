"""The frontier: every contender at every level of utility, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.audit.audit import attack_from_spec
from vecveil.audit.defenses import Defense, Undefended, Veiled
from vecveil.audit.experiment import Cell, Experiment, to_json
from vecveil.audit.frontier.contender import Contender, at_noise
from vecveil.audit.frontier.results import NO_DEFENSE, REDACTED, Choice, FrontierResult, FrontierRow
from vecveil.audit.frontier.workbench import LEAST_NOISE, Workbench
from vecveil.concepts import Concept, Passage
from vecveil.core.checks import at_least, fraction
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil.provenance import installed_versions

LEVELS = (0.99, 0.97, 0.95, 0.90)
CONTENDERS = ("uniform", "hard-concrete:paper", "canonical")
GUIDE = "mlc,batch_size=256,epochs=40,patience=6"
GUIDES = (GUIDE, "nearest")
"""Attacks of two kinds, so that what is left out is not fitted to one of them."""

CHOOSING = 10_000
"""Added to the first seed for the split in which directions are chosen: no repetition is measured in it."""

RESULT = "frontier.json"


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
            attack_from_spec(spec)
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Frontier:
    """A comparison, ready to run.

    Attributes:
        plan: What is compared.
        workbench: Corpus and utility.
        experiment: Where finished cells are kept.
        progress: Told how far it is.
    """

    plan: FrontierPlan
    workbench: Workbench
    experiment: Experiment
    progress: Progress = silent

    def run(self) -> FrontierResult:
        """Compute what is missing in the folder, and return everything."""
        with self.experiment.open(self.identity()):
            choices = tuple(self._choices())
            work = [(choice, seed) for choice in (*_REFERENCES, *choices) for seed in self.plan.seeds]
            rows = [self._rows(*one) for one in self.progress(work, label="attacking", total=len(work))]
            utility = self.workbench.utility
            result = FrontierResult(
                plan=to_json(self.plan.settings()),
                utility={"measured_by": utility.label, "undefended": list(utility.undefended)},
                corpus=to_json(self.workbench.corpus.facts()),
                embedder=to_json(self.workbench.embed.embedder.fingerprint.settings()),
                versions=installed_versions(),
                choices=choices,
                rows=tuple(row for found in rows for row in found),
            )
            self.experiment.write(RESULT, result)
        return result

    def identity(self) -> dict[str, Any]:
        """Return what makes two comparisons the same."""
        return {
            "frontier": self.plan.settings(),
            "texts": self.workbench.corpus.digest(),
            "embedder": self.workbench.embed.embedder.fingerprint.settings(),
        }

    def _choices(self) -> list[Choice]:
        asked = [(Contender(spec), level) for spec in self.plan.contenders for level in self.plan.levels]
        seed = self.plan.seeds[0] + CHOOSING
        found = []
        for contender, level in self.progress(asked, label="choosing directions", total=len(asked)):
            key = {"name": "choice", "contender": contender.spec, "level": level}

            def choose(*_: Any, contender: Contender = contender, level: float = level) -> Choice:
                return self.workbench.choose(contender, level, guides=self.plan.guides, seed=seed)

            found.append(self.experiment.run(Cell(key=key, kind=Choice, compute=choose)))
        return found

    def _rows(self, choice: Choice, seed: int) -> tuple[FrontierRow, ...]:
        key = {"name": "rows", "contender": choice.contender, "level": choice.level, "seed": seed}
        cell = Cell(key=key, kind=tuple[FrontierRow, ...], compute=lambda *_: self._attack(choice, seed))
        return self.experiment.run(cell)

    def _attack(self, choice: Choice, seed: int) -> tuple[FrontierRow, ...]:
        workbench, left_out, noise = self.workbench, 0, 0.0
        defense: Defense = Undefended()
        if choice.contender == REDACTED:
            defense = workbench.redacted
        elif choice.contender != NO_DEFENSE:
            if choice.noise_ratio is None:
                return ()
            veil = workbench.learn(Contender(choice.contender), choice.directions, seed)
            noise = workbench.find_noise(choice.level, veil, seed) or LEAST_NOISE
            left_out = veil.shape.dimensions - veil.shape.released
            defense = at_noise(veil, noise)
        kept = workbench.utility.share_kept(defense, np.random.default_rng(seed))
        found = []
        for spec in self.plan.attacks:
            row = workbench.attack(spec, defense, seed)
            found.append(
                FrontierRow(
                    contender=choice.contender,
                    level=choice.level,
                    seed=seed,
                    directions=left_out,
                    noise_ratio=noise,
                    epsilon=defense.epsilon if isinstance(defense, Veiled) else None,
                    utility=kept,
                    attack=spec,
                    leakage=row.leakage.value,
                    chance=row.chance,
                    top_one=row.top_one.value,
                    auc=row.auc,
                    seconds=row.seconds,
                )
            )
        return tuple(found)


_REFERENCES = tuple(
    Choice(contender=name, level=1.0, directions=None, noise_ratio=None, tried={}) for name in (NO_DEFENSE, REDACTED)
)


def prepare_frontier(
    plan: FrontierPlan,
    concept: Concept,
    texts: Iterable[Passage],
    experiment: Experiment,
    *,
    embedder: str | Embedder = "minilm",
    cache: Path | None = None,
    progress: Progress = silent,
) -> Frontier:
    """Return the comparison that `plan` asks for.

    Args:
        plan: Contenders, attacks, levels and seeds.
        concept: What is private.
        texts: The owner's texts.
        experiment: Where what was computed is kept.
        embedder: A name or an object.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        progress: Told how far the work is.
    """
    workbench = Workbench.from_texts(
        concept,
        list(texts),
        tasks=plan.tasks,
        embedder=embedder,
        copies=plan.copies,
        near_copies=plan.near_copies,
        cache=cache,
        progress=progress,
    )
    return Frontier(plan=plan, workbench=workbench, experiment=experiment, progress=progress)
