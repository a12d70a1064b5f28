"""Attacks and probes on one defense: release, denoise, train, read, measure."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.attacks import Attack, ConceptProbe, ProbeScore, Recovery, Sample, WienerFilter
from vecveil.attacks.probe import ProbeKind
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defenses import Defense
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.metrics import Reading, ratio
from vecveil.audit.results import AttackRow, Estimate, ProbeRow, Reconstruction, Setting
from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.progress import Progress, silent

JUDGED = 200
"""Reconstructions whose similarity to the text is measured, at most: the judge is a model of its own."""

PROBE_RESAMPLES = 200
"""Bootstrap samples of a probe's AUC."""

FOLDS = 5
"""Parts of the training texts, each denoised by what was learned from the others."""


@dataclass(frozen=True, kw_only=True)
class AttackCell:
    """What one attack on one defense gave: a row for the tables, and its reading of the example texts."""

    row: AttackRow
    readings: tuple[Reconstruction, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackRunner:
    """Runs attacks on a corpus.

    Attributes:
        corpus: The owner's texts.
        embed: Access to the model, which an attacker is taken to have.
        judge: The embedder that says how near reconstructions come; None for none.
        copies: Fresh releases of each training text.
        examples: Number of texts whose readings are kept.
    """

    corpus: AuditCorpus
    embed: MemoizedEmbedder
    judge: MemoizedEmbedder | None
    copies: int
    examples: int

    def attack(
        self,
        name: str,
        attack: Attack,
        setting: Setting,
        defense: Defense,
        rng: np.random.Generator,
        *,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> AttackCell:
        """Train `attack` on what `defense` lets out, and return what it reads of texts it has not seen."""
        started = time.monotonic()
        train, held_out, test = self._samples(attack, setting, defense, rng)
        armed = give_access(attack, self.embed)
        trained = armed.train(train, held_out, rng, folder=folder, progress=progress)
        recovery = trained.recover(test.vectors, progress=progress)
        reading = Reading(sample=test, recovery=recovery, confidence=trained.confidence(test, progress=progress))
        similar = self._similarities(test, recovery)
        row = AttackRow(
            setting=setting,
            attack=name,
            releases=attack.releases,
            texts=sum(map(bool, test.tokens)),
            tokens=sum(map(len, test.tokens)),
            known=reading.known_share(),
            leakage=reading.leakage(),
            chance=reading.chance(rng),
            confidence=reading.mean_confidence(),
            precision=reading.precision(),
            top_one=reading.top_one(),
            auc=reading.auc(),
            similarity=_mean(similar) if similar is not None else None,
            categories=reading.categories(),
            seconds=time.monotonic() - started,
        )
        return AttackCell(row=row, readings=self._readings(name, setting, test, recovery, similar))

    def example_rows(self, seed: int) -> list[int]:
        """Return the test texts that are kept to be looked at: the first that hold the concept."""
        _, _, test = self.corpus.split(seed)
        return [int(row) for row in test if self.corpus.tokens[row]][: self.examples]

    def _samples(
        self, attack: Attack, setting: Setting, defense: Defense, rng: np.random.Generator
    ) -> tuple[Sample, Sample, Sample]:
        parts = self.corpus.split(setting.seed)
        # Without noise every release is the same, so there is nothing to average; but the copies stay, or the attack on
        # the undefended vectors would take fewer steps in an epoch, and its patience would end sooner.
        releases = attack.releases if defense.noisy else 1
        train, held_out, test = (
            [self._release(defense, rows, releases, rng) for _ in range(number)]
            for rows, number in zip(parts, (self.copies, 1, 1), strict=True)
        )
        if defense.noisy:
            clean = self.corpus.clean[parts[0]]
            wiener = _filter(clean, train, defense)
            held_out, test = ([wiener(part) for part in group] for group in (held_out, test))
            train = _denoise_by_folds(clean, train, defense, rng)
        samples = (self._sample(rows, group) for rows, group in zip(parts, (train, held_out, test), strict=True))
        first, second, third = samples
        return first, second, third

    def _release(self, defense: Defense, rows: Any, releases: int, rng: np.random.Generator) -> Embeddings:
        passages = [self.corpus.passages[row] for row in rows]
        return defense.protect(passages, self.corpus.clean[rows], rng, times=releases)

    def _sample(self, rows: Any, copies: list[Embeddings]) -> Sample:
        return Sample(
            vectors=np.concatenate(copies),
            texts=tuple(self.corpus.passages[row].text for row in rows) * len(copies),
            tokens=tuple(self.corpus.tokens[row] for row in rows) * len(copies),
        )

    def _similarities(self, test: Sample, recovery: Recovery) -> Vector | None:
        """Return how near the first reconstructions come to their texts, by cosine; None where no one can say."""
        if recovery.texts is None or self.judge is None:
            return None
        rows = _with_tokens(test)[: max(JUDGED, self.examples)]
        # A judge takes no empty text, and an attack that reads nothing comes near nothing.
        read = [row for row in rows if recovery.texts[row].strip()]
        one = self.judge([test.texts[row] for row in read])
        other = self.judge([recovery.texts[row] for row in read])
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
        found = dict(zip(read, np.sum(one * other, axis=1, dtype=np.float64) / lengths, strict=True))
        return np.array([found.get(row, 0.0) for row in rows])

    def _readings(
        self, name: str, setting: Setting, test: Sample, recovery: Recovery, similar: Vector | None
    ) -> tuple[Reconstruction, ...]:
        return tuple(
            Reconstruction(
                setting=setting,
                attack=name,
                text=None if recovery.texts is None else recovery.texts[row],
                leaked=tuple(token.word for token in test.tokens[row] if token.word in recovery.words[row]),
                similarity=None if similar is None else float(similar[number]),
            )
            for number, row in enumerate(_with_tokens(test)[: self.examples])
        )


def _filter(clean: Embeddings, copies: list[Embeddings], defense: Defense) -> WienerFilter:
    return WienerFilter.fit(np.concatenate([clean] * len(copies)), np.concatenate(copies), axes=defense.axes)


def _denoise_by_folds(
    clean: Embeddings, copies: list[Embeddings], defense: Defense, rng: np.random.Generator
) -> list[Embeddings]:
    """Return training vectors, each denoised by a filter that has not seen its text, as those of the test are.

    A filter fits the texts that it is made from better than others, and an attack would learn to rely on that.
    """
    found = [np.empty_like(copy) for copy in copies]
    folds = rng.permutation(clean.shape[0]) % FOLDS
    for fold in range(FOLDS):
        chosen = folds == fold
        wiener = _filter(clean[~chosen], [copy[~chosen] for copy in copies], defense)
        for copy, denoised in zip(copies, found, strict=True):
            denoised[chosen] = wiener(copy[chosen])
    return found


def _with_tokens(sample: Sample) -> list[int]:
    return [row for row, tokens in enumerate(sample.tokens) if tokens]


def give_access(attack: Attack, embed: MemoizedEmbedder) -> Attack:
    """Return the attack with access to the model and with the model's fingerprint, where it can use them."""
    settings: Any = attack
    given = {"embed": embed, "embedder": embed.embedder.fingerprint}
    known = {field.name for field in fields(settings)}
    armed: Attack = replace(settings, **{name: value for name, value in given.items() if name in known})
    return armed


def _mean(values: Vector) -> Estimate | None:
    return ratio(values, np.ones_like(values)) if values.size else None


def probe_row(
    kind: ProbeKind, corpus: AuditCorpus, setting: Setting, defense: Defense, rng: np.random.Generator
) -> ProbeRow:
    """Return how well a probe that was trained on what `defense` lets out tells contrast pairs apart."""
    started = time.monotonic()
    pairs = corpus.pairs
    both = np.concatenate([pairs.with_concept, pairs.without_concept])
    seen = defense.protect(corpus.pair_passages, both, rng)
    score = ConceptProbe(kind=kind, seed=setting.seed).score(
        seen, np.arange(2 * len(pairs)) < len(pairs), np.tile(np.arange(len(pairs)), 2)
    )
    return ProbeRow(
        setting=setting,
        probe=kind,
        auc=_auc_interval(score, rng),
        accuracy=score.accuracy,
        tested=score.tested,
        seconds=time.monotonic() - started,
    )


def _auc_interval(score: ProbeScore, rng: np.random.Generator) -> Estimate:
    """Return the AUC between the ends of its bootstrap interval, each class resampled within itself."""
    from scipy.stats import rankdata

    with_concept, without = score.chances[score.present], score.chances[~score.present]

    def auc(first: np.ndarray, second: np.ndarray) -> float:
        ranks = rankdata(np.concatenate([first, second]))[: first.size]
        return float((ranks.sum() - first.size * (first.size + 1) / 2) / (first.size * second.size))

    drawn = [
        auc(rng.choice(with_concept, with_concept.size), rng.choice(without, without.size))
        for _ in range(PROBE_RESAMPLES)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(value=score.auc, low=float(low), high=float(high))
