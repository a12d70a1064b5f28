"""The frontier: every contender at every level of utility, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.audit.attack_runner import FILL_IN_THE_BLANK
from vecveil.audit.audit import attack_from_spec
from vecveil.audit.defenses import Defense, Undefended, Veiled
from vecveil.audit.experiment import Cell, Experiment, to_json
from vecveil.audit.frontier.contender import Contender
from vecveil.audit.frontier.results import NO_DEFENSE, REDACTED, Choice, FrontierPoint, FrontierResult, FrontierRow
from vecveil.audit.frontier.workbench import Workbench
from vecveil.audit.noise_search import LEAST_NOISE
from vecveil.audit.utility import ENDINGS, Measure
from vecveil.concepts import Concept, Passage
from vecveil.core.blas import single_threaded_blas
from vecveil.core.checks import at_least, fraction, one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil.provenance import installed_versions

LEVELS = (0.99, 0.97, 0.95, 0.90)
CONTENDERS = ("uniform", "hard-concrete:paper", "canonical", "canonical,substitution=remove")
CHOOSING = 10_000
"""Added to the first seed for the split in which directions are chosen: no repetition is measured in it."""

RESULT = "frontier.json"


@dataclass(frozen=True, kw_only=True)
class FrontierPlan:
    """Every contender at every level of utility, under every attack, for every seed.

    Attributes:
        contenders: Defenses, `SHAPE[:PRESET][,setting=value…][,substitution=NAME]`. Where the number of directions to
            leave out is free, it is chosen for each level by what the guides read in a split of its own.
        attacks: Specs of attacks; the strongest of them counts, for each contender and level.
        levels: Shares of undefended utility.
        tasks: Specs of the utility tasks; none to search for texts by their own words.
        measure: What counts of them: "search" (all), "unnamed" (searches that don't name the concept), "reranked" (all,
            after reranking); where None, "search" of tasks that are named, and "unnamed" otherwise.
        guides: Attacks by which numbers of directions are chosen: the strongest counts; fill-in-the-blank adds to it.
            None for those by which `learn` chooses.
        seeds: Each is a repetition with its own split, shapes, noise and attackers.
        copies: Fresh releases of each training text that attackers learn from.
        near_copies: Cosine from which two texts are near copies, which stay on one side of every split; None splits
            text by text.
    """

    contenders: tuple[str, ...] = CONTENDERS
    attacks: tuple[str, ...] = ("mlc", "nearest")
    levels: tuple[float, ...] = LEVELS
    tasks: tuple[str, ...] = ()
    measure: Measure | None = None
    guides: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    copies: int = 2
    near_copies: float | None = None

    def __post_init__(self) -> None:
        for name in ("contenders", "attacks", "levels", "guides", "seeds"):
            values = getattr(self, name)
            if not values and name != "guides":
                raise InvalidInputError(f"a frontier needs one of its {name} at least, got none")
            if len(set(values)) < len(values):
                raise InvalidInputError(f"{name} of a frontier must differ, got {', '.join(map(str, values))}")
        for spec in self.contenders:
            Contender(spec)
        for spec in (*self.attacks, *(guide for guide in self.guides if guide != FILL_IN_THE_BLANK)):
            attack_from_spec(spec)
        if self.measure is not None:
            one_of(self.measure, ENDINGS, "measure")
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
        with self.experiment.open(self.identity()), single_threaded_blas():
            choices = tuple(self._choices())
            work = [(choice, seed) for choice in (*_REFERENCES, *choices) for seed in self.plan.seeds]
            found = [self._measure(*one) for one in self.progress(work, label="attacking", total=len(work))]
            utility = self.workbench.utility
            result = FrontierResult(
                plan=to_json(self.plan.settings()),
                utility={"measured_by": utility.label, "undefended": to_json({"scores": utility.undefended})["scores"]},
                corpus=to_json(self.workbench.corpus.facts()),
                embedder=to_json(self.workbench.embed.embedder.fingerprint.settings()),
                versions=installed_versions(),
                choices=choices,
                points=tuple(point for point, _ in found if point is not None),
                rows=tuple(row for _, rows in found for row in rows),
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

    def _measure(self, choice: Choice, seed: int) -> tuple[FrontierPoint | None, list[FrontierRow]]:
        """Return what a contender comes to in one repetition, and what each attack reads there."""
        if choice.contender not in (NO_DEFENSE, REDACTED) and choice.noise_ratio is None:
            return None, []
        key = {"contender": choice.contender, "level": choice.level, "seed": seed}
        point = self.experiment.run(
            Cell(key={"name": "point", **key}, kind=FrontierPoint, compute=lambda *_: self._point(choice, seed))
        )
        rows = []
        for spec in self.plan.attacks:

            def attack(rng: np.random.Generator, folder: Path, spec: str = spec) -> FrontierRow:
                row = self.workbench.attack(spec, self._defense(choice, point, seed), seed, rng=rng, folder=folder)
                return FrontierRow(
                    contender=choice.contender,
                    level=choice.level,
                    seed=seed,
                    attack=spec,
                    words=row.r_precision.value,
                    guess=row.r_chance,
                    leakage=row.leakage.value,
                    chance=row.chance,
                    top_one=row.top_one.value,
                    auc=row.auc,
                    seconds=row.seconds,
                )

            rows.append(self.experiment.run(Cell(key={"name": spec, **key}, kind=FrontierRow, compute=attack)))
        return point, rows

    def _point(self, choice: Choice, seed: int) -> FrontierPoint:
        workbench, left_out, noise = self.workbench, 0, 0.0
        if choice.contender not in (NO_DEFENSE, REDACTED):
            veil = workbench.learn(Contender(choice.contender), choice.directions, seed)
            noise = workbench.find_noise(choice.level, veil, seed) or LEAST_NOISE
            left_out = veil.shape.dimensions - veil.shape.released
        defense = self._defense(choice, noise, seed)
        shares = workbench.utility.shares(defense, np.random.default_rng(seed))
        blank = workbench.fill_blanks(defense, seed).row
        return FrontierPoint(
            contender=choice.contender,
            level=choice.level,
            seed=seed,
            directions=left_out,
            noise_ratio=noise,
            epsilon=defense.epsilon if isinstance(defense, Veiled) else None,
            utility=shares[workbench.utility.measure],
            blank=None if blank is None else blank.right.value,
            blank_chance=None if blank is None else blank.chance,
            **shares,
        )

    def _defense(self, choice: Choice, noise: float | FrontierPoint, seed: int) -> Defense:
        if choice.contender == NO_DEFENSE:
            return Undefended()
        if choice.contender == REDACTED:
            return self.workbench.redacted
        veil = self.workbench.learn(Contender(choice.contender), choice.directions, seed)
        ratio = noise.noise_ratio if isinstance(noise, FrontierPoint) else noise
        return self.workbench.at_noise(veil, ratio)


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
        measure=plan.measure,
        embedder=embedder,
        copies=plan.copies,
        near_copies=plan.near_copies,
        cache=cache,
        progress=progress,
    )
    return Frontier(plan=plan, workbench=workbench, experiment=experiment, progress=progress)
