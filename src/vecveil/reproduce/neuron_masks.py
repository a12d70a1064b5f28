"""Which dimensions the masks of single words single out: the paper's heat map."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.reproduce.finding import Finding, Row, row_of
from vecveil.reproduce.lab import Lab
from vecveil.reproduce.plots import new_figure
from vecveil.reproduce.words import GROUPS, Words, sentences_note, top
from vecveil.shapes import build_learner

SIX = ("weekdays", "country", "months", "us", "gender", "number")
TOP = 5
PRESETS = ("paper", "working")


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

    def run(self, lab: Lab) -> Finding:
        """Return the heat maps, and the share of the top five dimensions that two words have in common."""
        words = Words(lab=lab, groups={name: GROUPS[name] for name in SIX})
        chosen = words.frequent(lab.effort.words)
        rows: list[Row] = []
        plots: dict[str, Any] = {}
        for preset in PRESETS:
            work = [(group, word) for group, known in chosen.items() for word in known]
            masks = {
                (group, word): _mask(words, word, preset)
                for group, word in lab.progress(work, label=f"masks, {preset}", total=len(work))
            }
            rows += _overlaps(masks, preset, words.embed.embedder.fingerprint.dimensions)
            plots[f"{self.name}-{preset}"] = _heat_map(masks)
        note = "The paper shows a picture and no figures; what two words share of their top five dimensions is ours."
        return Finding(
            name=self.name,
            title=self.title,
            rows=tuple(rows),
            notes=(sentences_note(lab), note),
            lab=lab.facts(),
            plots=plots,
        )


def _mask(words: Words, word: str, preset: str) -> Vector:
    pairs = words.pairs(word)
    key = {
        "name": "mask",
        "word": word,
        "pairs": len(pairs),
        "preset": preset,
        "embedder": words.embed.embedder.fingerprint.settings(),
        "texts": len(words.sentences),
    }

    def learned() -> Mask:
        shape = build_learner("hard-concrete", preset=preset).fit(pairs, np.random.default_rng(0)).shape
        return Mask(variances=tuple(float(one) for one in shape.variances))

    return np.array(words.lab.kept(key, Mask, learned).variances)


def _overlaps(masks: dict[tuple[str, str], Vector], preset: str, dimensions: int) -> list[Row]:
    """Return how many of the top five dimensions two words share, within a group, across groups and by chance."""
    tops = {place: {*top(values, TOP)} for place, values in masks.items()}
    shares: dict[str, list[float]] = {}
    for (one, first), (other, second) in combinations(tops.items(), 2):
        kind = one[0] if one[0] == other[0] else "across groups"
        shares.setdefault(kind, []).append(100 * len(first & second) / TOP)
    shares["by chance"] = [100 * TOP / dimensions]
    return [
        row_of({"preset": preset, "words of": kind}, "shared, %", [float(np.mean(found))])
        for kind, found in shares.items()
    ]


def _heat_map(masks: dict[tuple[str, str], Vector]) -> Any:
    columns = sorted({place for values in masks.values() for place in top(values, TOP)})
    figure, axes = new_figure(1, size=(max(7.0, 0.12 * len(columns)), 0.22 * len(masks) + 1.5))
    image = axes[0].imshow(np.array([values[columns] for values in masks.values()]), aspect="auto", cmap="viridis")
    axes[0].set_yticks(range(len(masks)), [f"{word} ({group})" for group, word in masks], fontsize=7)
    axes[0].set_xticks(range(len(columns)), [str(one) for one in columns], rotation=90, fontsize=4)
    axes[0].set_xlabel("dimension (the union of the top five of each word)")
    figure.colorbar(image, ax=axes[0], label="variance")
    return figure
