"""Masks of single words: the paper's heat map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

import numpy as np

from reproduction.lab import Lab
from reproduction.plots import new_figure
from reproduction.result import PaperResult, Row, row_of
from reproduction.words import GROUPS, Words, sentences_note, top
from vecveil.core.arrays import Vector
from vecveil.core.digests import array_digest
from vecveil.shapes import Evidence, build_learner

SIX = ("weekdays", "country", "months", "us", "gender", "number")
TOP = 5
PRESETS = ("paper", "working")

Masks: TypeAlias = dict[tuple[str, str], Vector]
"""By group and word."""


@dataclass(frozen=True, kw_only=True)
class Mask:
    """The variances that a mask of one word gives each dimension."""

    variances: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class NeuronMasks:
    """Masks word by word in six groups, and how far words of a group share their first dimensions."""

    name: ClassVar[str] = "neuron-masks"
    title: ClassVar[str] = "Dimensions that the masks of single words single out"
    where: ClassVar[str] = "Figure 2"

    def run(self, lab: Lab) -> PaperResult:
        """Return the heat maps, and the share of the top five dimensions that two words have in common."""
        words = Words(lab=lab, groups={name: GROUPS[name] for name in SIX})
        chosen = words.frequent(lab.effort.words)
        rows: list[Row] = []
        plots: dict[str, Any] = {}
        for preset in PRESETS:
            work = [(group, word) for group, known in chosen.items() for word in known]
            masks, again = {}, {}
            for group, word in lab.progress(work, label=f"masks, {preset}", total=len(work)):
                masks[group, word], again[group, word] = (_mask(words, word, preset, seed) for seed in (0, 1))
            rows += _overlaps(masks, again, preset)
            plots[f"{self.name}-{preset}"] = partial(_heat_map, masks)
        note = "The paper shows a picture and no figures; what two words share of their top five dimensions is ours."
        return PaperResult(
            name=self.name,
            title=self.title,
            rows=tuple(rows),
            notes=(sentences_note(lab), note),
            lab=lab.facts(),
            plots=plots,
        )


def _mask(words: Words, word: str, preset: str, seed: int) -> Vector:
    pairs = words.pairs(word)
    digest = [array_digest(np.asarray(side)) for side in (pairs.with_concept, pairs.without_concept)]

    def learn(*_: Any) -> Mask:
        learner = build_learner("hard-concrete", preset=preset)
        shape = learner.fit(Evidence(pairs), np.random.default_rng(seed)).shape
        return Mask(variances=tuple(float(one) for one in shape.variances))

    return np.array(words.lab.run("mask", None, seed, Mask, learn, pairs=digest, preset=preset).variances)


def _overlaps(masks: Masks, again: Masks, preset: str) -> list[Row]:
    """Return how many of the top five dimensions two words share: of a group, of two groups, and by chance.

    What a word shares with itself, learned with another seed, says how far a mask is about the word at all.
    """
    tops = {place: {*top(values, TOP)} for place, values in masks.items()}
    shares: dict[str, list[float]] = {}
    for (one, first), (other, second) in combinations(tops.items(), 2):
        kind = one[0] if one[0] == other[0] else "two groups"
        shares.setdefault(kind, []).append(100 * len(first & second) / TOP)
    shares["the same word, another seed"] = [
        100 * len(tops[place] & {*top(values, TOP)}) / TOP for place, values in again.items()
    ]
    shares["by chance"] = [100 * TOP / len(next(iter(masks.values())))]
    return [
        row_of({"preset": preset, "words of": kind}, "shared, %", [float(np.mean(found))])
        for kind, found in shares.items()
    ]


def _heat_map(masks: Masks) -> Any:
    columns = sorted({place for values in masks.values() for place in top(values, TOP)})
    figure, axes = new_figure(1, size=(max(7.0, 0.12 * len(columns)), 0.22 * len(masks) + 1.5))
    image = axes[0].imshow(np.array([values[columns] for values in masks.values()]), aspect="auto", cmap="viridis")
    axes[0].set_yticks(range(len(masks)), [f"{word} ({group})" for group, word in masks], fontsize=7)
    axes[0].set_xticks(range(len(columns)), [str(one) for one in columns], rotation=90, fontsize=4)
    axes[0].set_xlabel("dimension (the union of the top five of each word)")
    figure.colorbar(image, ax=axes[0], label="variance")
    return figure
