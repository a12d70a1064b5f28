"""The concept probes on one defence: can a text with the concept be told from the same text without it?"""

from __future__ import annotations

import time

import numpy as np

from vecveil.attacks import ConceptProbe, ProbeScore
from vecveil.attacks.probe import ProbeKind
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defences import Defence
from vecveil.audit.estimate import Estimate
from vecveil.audit.results import ProbeRow, Setting

RESAMPLES = 200


def probe_row(
    kind: ProbeKind, corpus: AuditCorpus, setting: Setting, defence: Defence, rng: np.random.Generator
) -> ProbeRow:
    """Return how well a probe that was trained on what `defence` lets out tells contrast pairs apart."""
    started = time.monotonic()
    pairs = corpus.pairs
    both = np.concatenate([pairs.with_concept, pairs.without_concept])
    seen = defence.release(corpus.pair_passages, both, rng)
    score = ConceptProbe(kind=kind, seed=setting.seed).score(
        seen, np.arange(2 * len(pairs)) < len(pairs), np.tile(np.arange(len(pairs)), 2)
    )
    return ProbeRow(
        setting=setting,
        probe=kind,
        auc=_interval(score, rng),
        accuracy=score.accuracy,
        tested=score.tested,
        seconds=time.monotonic() - started,
    )


def _interval(score: ProbeScore, rng: np.random.Generator) -> Estimate:
    """Return the AUC between the ends of its bootstrap interval, each class resampled within itself."""
    from scipy.stats import rankdata

    with_concept, without = score.chances[score.present], score.chances[~score.present]

    def auc(first: np.ndarray, second: np.ndarray) -> float:
        ranks = rankdata(np.concatenate([first, second]))[: first.size]
        return float((ranks.sum() - first.size * (first.size + 1) / 2) / (first.size * second.size))

    drawn = [
        auc(rng.choice(with_concept, with_concept.size), rng.choice(without, without.size)) for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(value=score.auc, low=float(low), high=float(high))
