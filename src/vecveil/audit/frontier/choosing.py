"""How many directions a contender leaves out at a level of utility: as many as leave the guides least to read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.contender import Contender
from vecveil.audit.frontier.results import Choice
from vecveil.audit.results import AttackRow
from vecveil.core.progress import Progress, silent


def choose(
    bench: Bench, contender: Contender, level: float, *, guides: Sequence[str], seed: int, progress: Progress = silent
) -> Choice:
    """Return what a contender comes down to at one level of utility.

    Fewer directions leave room for more noise; which serves better depends on the concept, so each number is tried.

    Args:
        bench: Corpus and utility.
        contender: Whose directions are chosen.
        level: Share of undefended utility to keep.
        guides: Specs of the attacks that read what is left.
        seed: Of the split in which it is tried.
        progress: Told after each number.
    """
    tried: dict[str, float] = {}
    noises: dict[str, tuple[int | None, float]] = {}
    for count, fitted in progress(bench.members(contender, seed), label=f"{contender.spec} at {level:.0%}", total=None):
        noise = bench.noise_at(level, fitted, seed)
        if noise is None:
            # What keeps too little with few directions keeps less with more.
            break
        name = str(count or 0)
        noises[name] = count, noise
        tried[name] = 0.0
        if contender.family:
            defence = bench.defence(fitted, noise)
            tried[name] = float(np.mean([read(bench.attacked(guide, defence, seed)) for guide in guides]))
    if not tried:
        return Choice(contender=contender.spec, level=level, directions=None, noise_ratio=None, tried={})
    count, noise = noises[min(tried, key=lambda name: tried[name])]
    return Choice(contender=contender.spec, level=level, directions=count, noise_ratio=noise, tried=tried)


def read(row: AttackRow) -> float:
    """Return how much an attack reads above chance: the mean of words claimed and of surest words.

    Leakage alone is zero for an attack that is just too unsure to claim anything.
    """
    return (max(0.0, row.leakage.value - row.chance) + row.top_one.value) / 2
