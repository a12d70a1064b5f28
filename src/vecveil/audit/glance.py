"""A first look at a veil: what a simple adaptive probe still finds, and what is left of the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vecveil.accounting import Dials
from vecveil.attacks import ConceptProbe, ProbeScore
from vecveil.core.arrays import Embeddings
from vecveil.core.progress import Progress, silent
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.shapes import ContrastPairs
from vecveil.utility import NeighboursKept
from vecveil.veil import Veil


@dataclass(frozen=True, kw_only=True)
class GlanceRow:
    """One defence at one budget.

    Attributes:
        defence: What was done to the vectors.
        dials: The budget, on its three dials; None where nothing was done.
        kept_both: Share of nearest neighbours kept when queries and documents are protected.
        kept_documents: The same when only the documents are.
        probe: How well a probe trained on vectors protected in this way finds the concept.
    """

    defence: str
    dials: Dials | None
    kept_both: float
    kept_documents: float
    probe: ProbeScore


@dataclass(frozen=True, kw_only=True, eq=False)
class Glance:
    """Measures defences on the same vectors, with the same split and seeds, so that rows can be compared.

    Attributes:
        corpus: Clean vectors of the texts that are searched.
        pairs: Clean vectors of the contrast pairs that the probe tells apart.
        seed: Of the noise and of the probe. Seeded noise is for measuring only, never for a release.
    """

    corpus: Embeddings
    pairs: ContrastPairs
    seed: int = 0

    def rows(self, veil: Veil, noise_ratios: Sequence[float], *, progress: Progress = silent) -> tuple[GlanceRow, ...]:
        """Return the unprotected row, the veil at each noise ratio, and plain Laplace noise of the same ratios."""
        tasks: list[tuple[str, Mechanism | None, Dials | None]] = [("none", None, None)]
        for ratio in noise_ratios:
            sheet = veil.guarantee(epsilon=veil.epsilon_for(noise_ratio=ratio))
            tasks.append(
                (f"veil, {veil.provenance.learner['name']}", veil.mechanism_at(sheet.dials.epsilon), sheet.dials)
            )
        tasks += [("laplace", *self._laplace(veil, ratio)) for ratio in noise_ratios]
        return tuple(self._row(*task) for task in progress(tasks, label="attacking", total=len(tasks)))

    def _row(self, defence: str, mechanism: Mechanism | None, dials: Dials | None) -> GlanceRow:
        rng = np.random.default_rng(self.seed)
        both = np.concatenate([self.pairs.with_concept, self.pairs.without_concept])
        released = self.corpus if mechanism is None else mechanism.perturb(self.corpus, rng)
        seen = both if mechanism is None else mechanism.perturb(both, rng)
        groups = np.tile(np.arange(len(self.pairs)), 2)
        task = NeighboursKept()
        return GlanceRow(
            defence=defence,
            dials=dials,
            kept_both=task.score(self.corpus, released),
            kept_documents=task.score(self.corpus, released, queries=self.corpus),
            probe=ConceptProbe(seed=self.seed).score(seen, np.arange(2 * len(self.pairs)) < len(self.pairs), groups),
        )

    def _laplace(self, veil: Veil, ratio: float) -> tuple[Mechanism, Dials]:
        dimensions = veil.shape.dimensions
        # The length of its noise is exactly proportional to 1/epsilon.
        epsilon = LaplaceMechanism(epsilon=1.0, dimensions=dimensions).noise_ratio(veil.typical.signal) / ratio
        mechanism = LaplaceMechanism(epsilon=epsilon, dimensions=dimensions)
        loss = epsilon * veil.typical.euclidean_pair
        return mechanism, Dials(epsilon=epsilon, distance="Euclidean distance", noise_ratio=ratio, pair_loss=loss)
