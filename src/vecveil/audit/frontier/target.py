"""From a target to a veil."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vecveil.audit.frontier.calibration import Calibration, calibrate
from vecveil.audit.frontier.contender import Contender
from vecveil.audit.frontier.plan import GUIDE
from vecveil.audit.frontier.prepare import make_bench
from vecveil.audit.prepare import attack_of
from vecveil.concepts import Concept, Passage, contrast_set
from vecveil.concepts.passage import passages as as_passages
from vecveil.core.checks import fraction
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.registry import DEFAULT_SHAPE
from vecveil.veil import Veil, learn


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a veil should come to: exactly one of the two.

    Attributes:
        keep_utility: The least share of undefended utility.
        max_leakage: The most that `attack` may read.
        attack: Spec of the attack that leakage is measured by.
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
        attack_of(self.attack)


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
    spec = shape + (f":{preset}" if preset else "")
    contender = Contender(spec, tuple((settings or {}).items()))
    corpus = as_passages(texts)
    # What `learn` would refuse in the end should not come to light after minutes of measuring.
    known = {name: choices[name] for name in ("drop_empty", "allow_everywhere") if name in choices}
    contrast_set(concept, corpus, kind=choices.get("contrast", "removal"), seed=seed, progress=progress, **known)
    bench = make_bench(
        concept,
        corpus,
        tasks=target.tasks,
        embedder=embedder,
        copies=1,
        near_copies=None,
        cache=None if cache is None else Path(cache),
        progress=progress,
    )
    found = calibrate(
        bench,
        contender,
        attack=target.attack,
        keep_utility=target.keep_utility,
        max_leakage=target.max_leakage,
        seed=seed,
        progress=progress,
    )
    choice = found.points[found.chosen].choice
    found_settings = {} if choice.directions is None else {"directions": choice.directions}
    veil = learn(
        concept,
        corpus,
        embedder=embedder,
        shape=shape,
        preset=preset,
        settings={**(settings or {}), **found_settings},
        cache=cache,
        seed=seed,
        progress=progress,
        **choices,
    )
    return replace(veil, epsilon=veil.epsilon_for(noise_ratio=choice.noise_ratio)), found
