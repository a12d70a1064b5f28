"""Calibration: the veil that a target asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vecveil.audit.audit import attack_from_spec
from vecveil.audit.defenses import Undefended
from vecveil.audit.frontier.contender import Contender, at_noise
from vecveil.audit.frontier.frontier import GUIDE, GUIDES, LEVELS
from vecveil.audit.frontier.results import Choice
from vecveil.audit.frontier.workbench import Workbench
from vecveil.concepts import Concept, Passage, contrast_set
from vecveil.concepts.passage import passages as as_passages
from vecveil.core.checks import fraction
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.registry import DEFAULT_SHAPE
from vecveil.veil import Veil, learn

MEASURED = 20_000
"""Added to the seed for the split in which the chosen points are measured: they were chosen in another."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a veil should come to: exactly one of the two.

    Attributes:
        keep_utility: The least share of undefended utility.
        max_leakage: The most that `attack` may read.
        attack: Spec of the attack that leakage is measured by. Directions are chosen by it and by attacks of another
            kind, so that they are not fitted to one.
        tasks: Specs of the tasks that utility is measured by; none to measure search in the texts themselves.
    """

    keep_utility: float | None = None
    max_leakage: float | None = None
    attack: str = GUIDE
    tasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.keep_utility is None) == (self.max_leakage is None):
            raise InvalidInputError("name one target: the utility to keep, or the most leakage")
        for name in ("keep_utility", "max_leakage"):
            if getattr(self, name) is not None:
                fraction(getattr(self, name), name)
        attack_from_spec(self.attack)


@dataclass(frozen=True, kw_only=True)
class OperatingPoint:
    """One point of the frontier.

    Attributes:
        choice: Level of utility, directions and noise.
        leakage: What the attack reads there, in a split other than the one that the point was chosen in.
        chance: What it would by guessing.
    """

    choice: Choice
    leakage: float
    chance: float


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A frontier with one point chosen.

    Attributes:
        utility: What utility was measured by.
        attack: What leakage was measured by.
        undefended: Leakage of unprotected vectors.
        points: The frontier, most utility first.
        chosen: Number of the point that meets the target.
    """

    utility: str
    attack: str
    undefended: float
    points: tuple[OperatingPoint, ...]
    chosen: int


def learn_to_target(
    concept: Concept,
    texts: Iterable[str | Passage],
    target: Target,
    *,
    embedder: str = "minilm",
    shape: str = DEFAULT_SHAPE,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    cache: str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
    **choices: Any,
) -> tuple[Veil, Calibration]:
    """Return a veil that meets a target, with its budget in it, and the frontier that it lies on.

    The frontier is measured on parts of the texts; the veil is then learned on all of them. The same texts, settings
    and seed give the same veil.

    Args:
        concept: What is private.
        texts: The owner's texts.
        target: What the veil should come to.
        embedder: As for `learn`.
        shape: The shape learner; where it leaves directions out, their number is found.
        preset: Named settings of that learner.
        settings: Single settings of that learner.
        cache: Folder to keep clean embeddings in.
        seed: Of splits, shapes and attackers.
        progress: Told how far the work is.
        **choices: What else `learn` takes.
    """
    contender = Contender(shape + (f":{preset}" if preset else ""), tuple((settings or {}).items()))
    corpus = as_passages(texts)
    # What `learn` would refuse in the end should not come to light after minutes of measuring.
    known = {name: choices[name] for name in ("drop_empty", "allow_everywhere") if name in choices}
    contrast_set(concept, corpus, kind=choices.get("contrast", "removal"), seed=seed, progress=progress, **known)
    workbench = Workbench.from_texts(
        concept,
        corpus,
        tasks=target.tasks,
        embedder=embedder,
        copies=1,
        cache=None if cache is None else Path(cache),
        progress=progress,
    )
    found = calibrate(workbench, contender, target, seed=seed, progress=progress)
    choice = found.points[found.chosen].choice
    directions = {} if choice.directions is None else {"directions": choice.directions}
    veil = learn(
        concept,
        corpus,
        embedder=embedder,
        shape=shape,
        preset=preset,
        settings={**(settings or {}), **directions},
        cache=cache,
        seed=seed,
        progress=progress,
        **choices,
    )
    return replace(veil, epsilon=veil.epsilon_for(noise_ratio=choice.noise_ratio)), found


def calibrate(
    workbench: Workbench,
    contender: Contender,
    target: Target,
    *,
    levels: Sequence[float] = LEVELS,
    seed: int = 0,
    progress: Progress = silent,
) -> Calibration:
    """Return the frontier of a shape learner on a corpus, with the point that meets the target.

    Args:
        workbench: Corpus and utility.
        contender: The shape learner.
        target: The utility to keep, which is added to the levels, or the most that the attack may read.
        levels: Levels of utility at which the frontier is measured.
        seed: Of splits, shapes, noise and attackers.
        progress: Told how far it is.

    Raises:
        InvalidInputError: Where no point meets the target; the message says which came nearest.
    """
    attack, most = target.attack, target.max_leakage
    asked = {target.keep_utility} if target.keep_utility is not None else set()
    wanted = sorted({*levels} | asked, reverse=True)
    undefended = workbench.attack(attack, Undefended(), seed).leakage.value
    if most is not None and undefended <= most:
        # An attack that fails where nothing is defended proves nothing.
        raise InvalidInputError(
            f"{attack} reads {undefended:.1%} of unprotected vectors, which is no more than the {most:.1%} that are "
            "allowed: it is too weak to find a budget by; name another --attack, or give it more texts"
        )
    guides = tuple(dict.fromkeys((attack, *GUIDES[1:])))
    points = []
    for level in progress(wanted, label="measuring the frontier", total=len(wanted)):
        choice = workbench.choose(contender, level, guides=guides, seed=seed, progress=progress)
        if choice.noise_ratio is not None:
            points.append(_measure(workbench, contender, choice, attack, seed + MEASURED))
    return Calibration(
        utility=workbench.utility.label,
        attack=attack,
        undefended=undefended,
        points=tuple(points),
        chosen=_choose_point(points, target),
    )


def _measure(workbench: Workbench, contender: Contender, choice: Choice, attack: str, seed: int) -> OperatingPoint:
    veil = workbench.learn(contender, choice.directions, seed)
    row = workbench.attack(attack, at_noise(veil, choice.noise_ratio or 0.0), seed)
    return OperatingPoint(choice=choice, leakage=row.leakage.value, chance=row.chance)


def _choose_point(points: Sequence[OperatingPoint], target: Target) -> int:
    if target.keep_utility is not None:
        found = [number for number, point in enumerate(points) if point.choice.level == target.keep_utility]
        problem = f"no shape keeps {target.keep_utility:.1%} of the utility with noise on it"
    else:
        most = target.max_leakage or 0.0
        found = [number for number, point in enumerate(points) if point.leakage <= most]
        nearest = min((point.leakage for point in points), default=1.0)
        problem = f"at no level does the attack read {most:.1%} or less; the least was {nearest:.1%}"
    if not found:
        raise InvalidInputError(f"{problem}; ask for less, or try another shape")
    return found[0]
