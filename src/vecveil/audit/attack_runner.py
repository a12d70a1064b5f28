"""Attacks, probes and blanks on one defense: release, denoise, train, read, measure."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.attacks import Attack, ConceptProbe, ProbeScore, Recovery, Sample, TrainingRun
from vecveil.attacks.denoiser import DENOISERS, Denoise, fit_denoiser
from vecveil.attacks.probe import ProbeKind
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defenses import Defense
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.metrics import Reading, mean_of, ratio
from vecveil.audit.rows import AttackRow, BlankRow, Estimate, Exposure, ProbeRow, Reconstruction, Setting
from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.checks import at_least, one_of
from vecveil.core.progress import Progress, silent
from vecveil.veil.blanks import Blank

JUDGED = 200
"""Reconstructions whose similarity to the text is measured, at most: the judge is a model of its own."""

PROBE_RESAMPLES = 200
"""Bootstrap samples of a probe's AUC."""

FOLDS = 5
"""Parts of the training texts, each denoised by what was learned from the others."""


FILL_IN_THE_BLANK = "fill-in-the-blank"


@dataclass(frozen=True, kw_only=True)
class PlannedAttack:
    """An attack, and what it is given.

    Attributes:
        attack: The attack.
        denoiser: What noisy vectors go through before the attack sees them: wiener, mlp or none.
        copies: Fresh releases of each training text; as many as the audit says where None.
    """

    attack: Attack
    denoiser: str = "wiener"
    copies: int | None = None

    def __post_init__(self) -> None:
        one_of(self.denoiser, DENOISERS, "denoiser")
        if self.copies is not None:
            at_least(self.copies, 1, "copies")


@dataclass(frozen=True, kw_only=True)
class AttackCell:
    """What one attack on one defense gave.

    Attributes:
        row: For the tables.
        readings: Its reading of the example texts.
        exposures: How far each test text was read, behind the veil at its own budget.
    """

    row: AttackRow
    readings: tuple[Reconstruction, ...] = ()
    exposures: tuple[Exposure, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BlankCell:
    """What filling in blanks behind one defense gave: a row, where it can be done at all, and exposures."""

    row: BlankRow | None
    exposures: tuple[Exposure, ...] = ()


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
        attack: Attack | PlannedAttack,
        setting: Setting,
        defense: Defense,
        rng: np.random.Generator,
        *,
        grouped: bool = False,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> AttackCell:
        """Train `attack` on what `defense` lets out, and return what it reads of texts it has not seen.

        Args:
            name: How results name the attack.
            attack: The attack.
            setting: The defense, for results.
            defense: What lets vectors out.
            rng: Makes noise, splits and attackers.
            grouped: Whether the attacker knows which texts belong together, and reads all of a group at once.
            folder: Where to keep checkpoints.
            progress: Told how far the training is.
        """
        started = time.monotonic()
        planned = attack if isinstance(attack, PlannedAttack) else PlannedAttack(attack=attack)
        samples = self._samples(planned, setting, defense, rng)
        train, held_out, test = self._merge_groups(samples, setting) if grouped else samples
        # The mean of vectors is no vector that the model makes of a text.
        armed = planned.attack if grouped else give_access(planned.attack, self.embed)
        trained = armed.train(TrainingRun(train, held_out, rng, folder=folder, progress=progress))
        recovery = trained.recover(test.vectors, progress=progress)
        reading = Reading(sample=test, recovery=recovery, confidence=trained.confidence(test, progress=progress))
        similar = self._similarities(test, recovery)
        row = AttackRow(
            setting=setting,
            attack=name,
            releases=planned.attack.releases,
            texts=sum(map(bool, test.tokens)),
            tokens=sum(map(len, test.tokens)),
            known=reading.known_share(),
            leakage=reading.leakage(),
            chance=reading.chance(rng),
            confidence=reading.mean_confidence(),
            precision=reading.precision(),
            r_precision=reading.r_precision(),
            r_chance=reading.r_chance(train.count_words()),
            top_one=reading.top_one(),
            auc=reading.auc(),
            similarity=_mean(similar) if similar is not None else None,
            categories=reading.categories(),
            seconds=time.monotonic() - started,
        )
        exposures = self._expose(name, setting, reading, grouped=grouped) if setting.own else ()
        readings = () if grouped else self._readings(name, setting, test, recovery, similar)
        return AttackCell(row=row, readings=readings, exposures=exposures)

    def fill_blanks(
        self, blanks: list[Blank], setting: Setting, defense: Defense, rng: np.random.Generator
    ) -> BlankCell:
        """Return how often someone is right who has each text but for one private value, and knows the defense."""
        started = time.monotonic()
        readings = defense.read_blanks(blanks, self.embed, rng) if blanks else None
        if readings is None:
            return BlankCell(row=None)
        row = BlankRow(
            setting=setting,
            texts=len(blanks),
            candidates=float(np.mean(1 / readings.chance)),
            right=ratio(readings.right, np.ones(len(blanks))),
            chance=float(readings.chance.mean()),
            bits=mean_of(readings.bits),
            rank=float(np.median(readings.ranks)),
            seconds=time.monotonic() - started,
        )
        exposures = tuple(
            Exposure(
                record=self.corpus.ids[blank.row],
                attack=FILL_IN_THE_BLANK,
                words=1,
                read=float(right),
                confidence=float(truth),
            )
            for blank, right, truth in zip(blanks, readings.right, readings.truth, strict=True)
        )
        return BlankCell(row=row, exposures=exposures if setting.own else ())

    def example_rows(self, seed: int) -> list[int]:
        """Return the test texts that are kept to be looked at: the first that hold the concept."""
        _, _, test = self.corpus.split(seed)
        return [int(row) for row in test if self.corpus.tokens[row]][: self.examples]

    def _samples(
        self, planned: PlannedAttack, setting: Setting, defense: Defense, rng: np.random.Generator
    ) -> tuple[Sample, Sample, Sample]:
        parts = self.corpus.split(setting.seed)
        # Without noise every release is the same, so there is nothing to average; but the copies stay, or the attack on
        # the undefended vectors would take fewer steps in an epoch, and its patience would end sooner.
        releases = planned.attack.releases if defense.noisy else 1
        copies = planned.copies or self.copies
        train, held_out, test = (
            [self._release(defense, rows, releases, rng) for _ in range(number)]
            for rows, number in zip(parts, (copies, 1, 1), strict=True)
        )
        if defense.noisy and planned.denoiser != "none":
            clean = self.corpus.clean[parts[0]]
            denoise = _fit_denoiser(planned.denoiser, clean, train, defense, rng)
            held_out, test = ([denoise(part) for part in group] for group in (held_out, test))
            train = _denoise_by_folds(planned.denoiser, clean, train, defense, rng)
        samples = (self._sample(rows, group) for rows, group in zip(parts, (train, held_out, test), strict=True))
        first, second, third = samples
        return first, second, third

    def _merge_groups(self, samples: tuple[Sample, Sample, Sample], setting: Setting) -> tuple[Sample, Sample, Sample]:
        """Return each part with one row for each group: the mean of its vectors, and all its words."""
        merged = []
        for rows, sample in zip(self.corpus.split(setting.seed), samples, strict=True):
            labels = np.array([self.corpus.groups[row] for row in rows] * (len(sample) // len(rows)))
            # Copies of a training text stay apart.
            copy = np.repeat(np.arange(len(sample) // len(rows)), len(rows))
            keys = [*dict.fromkeys(zip(copy.tolist(), labels.tolist(), strict=True))]
            members = [np.flatnonzero((copy == number) & (labels == label)) for number, label in keys]
            merged.append(
                Sample(
                    vectors=np.stack([sample.vectors[one].mean(axis=0) for one in members]),
                    texts=tuple("\n".join(sample.texts[row] for row in one) for one in members),
                    tokens=tuple(
                        tuple(dict.fromkeys(token for row in one for token in sample.tokens[row])) for one in members
                    ),
                )
            )
        first, second, third = merged
        return first, second, third

    def _expose(self, name: str, setting: Setting, reading: Reading, *, grouped: bool) -> tuple[Exposure, ...]:
        known = self.corpus.groups if grouped else self.corpus.ids
        tested = [known[row] for row in self.corpus.split(setting.seed)[2]]
        # A group is one row of its sample, in the order in which they come first.
        records = list(dict.fromkeys(tested)) if grouped else tested
        return tuple(
            Exposure(
                record=record,
                attack=name,
                words=len(tokens),
                read=float(share),
                confidence=float(sure.max()),
                grouped=grouped,
            )
            for record, tokens, share, sure in zip(
                records, reading.sample.tokens, reading.read_words(), reading.confidence, strict=True
            )
            if tokens
        )

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


def _fit_denoiser(
    kind: str, clean: Embeddings, copies: list[Embeddings], defense: Defense, rng: np.random.Generator
) -> Denoise:
    return fit_denoiser(kind, np.concatenate([clean] * len(copies)), np.concatenate(copies), rng, axes=defense.axes)


def _denoise_by_folds(
    kind: str, clean: Embeddings, copies: list[Embeddings], defense: Defense, rng: np.random.Generator
) -> list[Embeddings]:
    """Return training vectors, each denoised by what has not seen its text, as those of the test are.

    A denoiser fits the texts that it is made from better than others, and an attack would learn to rely on that.
    """
    found = [np.empty_like(copy) for copy in copies]
    folds = rng.permutation(clean.shape[0]) % FOLDS
    for fold in range(FOLDS):
        chosen = folds == fold
        denoise = _fit_denoiser(kind, clean[~chosen], [copy[~chosen] for copy in copies], defense, rng)
        for copy, denoised in zip(copies, found, strict=True):
            denoised[chosen] = denoise(copy[chosen])
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
