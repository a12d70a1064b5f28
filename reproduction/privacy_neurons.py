"""The paper's pilot study: dimensions that the concept changes most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from reproduction.lab import Lab
from reproduction.plots import new_figure
from reproduction.published import read_published
from reproduction.result import PaperResult, row_of
from vecveil.shapes import ContrastPairs
from vecveil.shapes.neuron_sensitivity import compare_tenths, neuron_sensitivity

READINGS = ("paired", "all")


@dataclass(frozen=True, kw_only=True)
class PrivacyNeurons:
    """The distribution of Δ in the top and the bottom tenth of the dimensions, and a Wilcoxon test.

    The paper ranks and tests on the same pairs, which finds a difference in any data; so it is done with halves too,
    and with differences that were shuffled over the dimensions, in which there is nothing to be found.
    """

    name: ClassVar[str] = "privacy-neurons"
    title: ClassVar[str] = "Sensitivity Δ of the most and the least sensitive tenth of the dimensions"
    where: ClassVar[str] = "Figure 3"

    def run(self, lab: Lab) -> PaperResult:
        """Return the means and the p-values."""
        pairs = lab.bench("sts12").corpus.pairs
        rows, plots = [], {}
        for reading, chosen in (
            ("paired", pairs),
            ("all", pairs),
            ("paired, shuffled", _shuffle(pairs, np.random.default_rng(0))),
        ):
            compare: Any = reading.split(",")[0]
            sensitivity = partial(neuron_sensitivity, compare=compare)
            facts = compare_tenths(chosen, np.random.default_rng(0), sensitivity=sensitivity)
            for split, prefix in (("same pairs", ""), ("halves", "held_out_")):
                for group, fact, metric in (
                    ("top", "top_tenth_mean", "sensitivity"),
                    ("bottom", "bottom_tenth_mean", "sensitivity"),
                    ("all", "wilcoxon_p", "p-value"),
                ):
                    printed = read_published(self.name).value({"group": group}, metric)
                    rows.append(
                        row_of(
                            {"pairs compared": reading, "ranked and tested on": split, "group": group},
                            metric,
                            [facts[prefix + fact]],
                            paper=printed if (reading, split) == ("paired", "same pairs") else None,
                        )
                    )
            if reading in READINGS:
                plots[f"{self.name}-{reading}"] = partial(_plot, sensitivity(chosen), reading)
        notes = (
            f"STS12, named entities, {len(pairs):,} pairs; embedder {lab.embedder} in place of GTR-base.",
            "Shuffled: each pair's differences over other dimensions, so that no dimension is special.",
        )
        return PaperResult(
            name=self.name, title=self.title, rows=tuple(rows), notes=notes, lab=lab.facts(), plots=plots
        )


def _shuffle(pairs: ContrastPairs, rng: np.random.Generator) -> ContrastPairs:
    """Return pairs whose differences are as large, but along dimensions chosen anew for each pair."""
    differences = np.asarray(pairs.with_concept, dtype=np.float64) - pairs.without_concept
    return ContrastPairs(pairs.without_concept + rng.permuted(differences, axis=1), pairs.without_concept)


def _plot(sensitivity: Any, reading: str) -> Any:
    size = max(1, sensitivity.size // 10)
    ordered = np.sort(sensitivity)
    figure, axes = new_figure(1, size=(4.5, 4.5))
    axes[0].boxplot([ordered[-size:], ordered[:size]], tick_labels=["top tenth", "bottom tenth"])
    axes[0].set_ylabel(f"Δ ({reading})")
    axes[0].set_ylim(bottom=0)
    return figure
