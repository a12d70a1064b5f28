"""The veil that a target asks for: directions and budget, found on the owner's own texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vecveil.audit.defences import Undefended
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.choosing import choose
from vecveil.audit.frontier.contender import Contender
from vecveil.audit.frontier.plan import GUIDES, LEVELS
from vecveil.audit.frontier.results import Choice
from vecveil.core.checks import fraction
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

MEASURED = 20_000
"""Added to the seed for the split in which the chosen points are measured: they were chosen in another."""


@dataclass(frozen=True, kw_only=True)
class Point:
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
    points: tuple[Point, ...]
    chosen: int


def calibrate(
    bench: Bench,
    contender: Contender,
    *,
    attack: str,
    keep_utility: float | None = None,
    max_leakage: float | None = None,
    levels: Sequence[float] = LEVELS,
    seed: int = 0,
    progress: Progress = silent,
) -> Calibration:
    """Return the frontier of a shape learner on a corpus, with the point that meets the target.

    Args:
        bench: Corpus and utility.
        contender: The shape learner.
        attack: Spec of the attack that leakage is measured by. Directions are chosen by it and by attacks of another
            kind, so that they are not fitted to one.
        keep_utility: The least share of undefended utility; the point on that level is chosen.
        max_leakage: The most that the attack may read; the point with the most utility that holds to it is chosen.
        levels: Levels of utility at which the frontier is measured; `keep_utility` is added to them.
        seed: Of splits, shapes, noise and attackers.
        progress: Told how far it is.

    Raises:
        InvalidInputError: Unless exactly one target is given, or where no point meets it; the message says which
            came nearest.
    """
    if (keep_utility is None) == (max_leakage is None):
        raise InvalidInputError("name one target, the utility to keep or the most leakage, not both and not neither")
    if keep_utility is not None:
        fraction(keep_utility, "keep_utility")
    if max_leakage is not None:
        fraction(max_leakage, "max_leakage")
    wanted = sorted({*levels} | ({keep_utility} if keep_utility is not None else set()), reverse=True)
    undefended = bench.attacked(attack, Undefended(), seed).leakage.value
    if max_leakage is not None and undefended <= max_leakage:
        # An attack that fails where nothing is defended proves nothing.
        raise InvalidInputError(
            f"{attack} reads {undefended:.1%} of unprotected vectors, which is no more than the {max_leakage:.1%} that "
            "are allowed: it is too weak to find a budget by; name another --attack, or give it more texts"
        )
    guides = tuple(dict.fromkeys((attack, *GUIDES[1:])))
    points = []
    for level in progress(wanted, label="measuring the frontier", total=len(wanted)):
        choice = choose(bench, contender, level, guides=guides, seed=seed, progress=progress)
        if choice.noise_ratio is not None:
            points.append(_measured(bench, contender, choice, attack, seed + MEASURED))
    return Calibration(
        utility=bench.utility.label,
        attack=attack,
        undefended=undefended,
        points=tuple(points),
        chosen=_chosen(points, keep_utility, max_leakage),
    )


def _measured(bench: Bench, contender: Contender, choice: Choice, attack: str, seed: int) -> Point:
    fitted = bench.fitted(contender, choice.directions, seed)
    row = bench.attacked(attack, bench.defence(fitted, choice.noise_ratio or 0.0), seed)
    return Point(choice=choice, leakage=row.leakage.value, chance=row.chance)


def _chosen(points: Sequence[Point], keep_utility: float | None, max_leakage: float | None) -> int:
    if keep_utility is not None:
        found = [number for number, point in enumerate(points) if point.choice.level == keep_utility]
        problem = f"no shape keeps {keep_utility:.1%} of the utility with noise on it"
    else:
        most = max_leakage or 0.0
        found = [number for number, point in enumerate(points) if point.leakage <= most]
        nearest = min((point.leakage for point in points), default=1.0)
        problem = f"at no level does the attack read {most:.1%} or less; the least was {nearest:.1%}"
    if not found:
        raise InvalidInputError(f"{problem}; ask for less, or try another shape")
    return found[0]
