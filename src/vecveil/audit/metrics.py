"""Metrics of an attack, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vecveil.attacks import Recovery, Sample
from vecveil.audit.rows import CategoryLeakage, Estimate
from vecveil.core.arrays import Matrix, Vector
from vecveil.core.errors import InvalidInputError, MissingExtraError

RESAMPLES = 1000
LEVEL = 0.95

SHIFTS = 20
"""Rearrangements of the texts over which the leakage of guessing is averaged."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """One attack's reading of the test texts, ready to be measured.

    Attributes:
        sample: The test texts, with their sensitive tokens.
        recovery: What the attack read out of their vectors.
        confidence: The probability that it gave to each true token.
    """

    sample: Sample
    recovery: Recovery
    confidence: tuple[Vector, ...]

    def __post_init__(self) -> None:
        if not any(self.sample.tokens):
            raise InvalidInputError("leakage needs test texts with sensitive tokens, got none")

    def leakage(self) -> Estimate:
        """Return the share of sensitive tokens that stand in the reconstruction of their own text."""
        return ratio(_hits(self.sample, self.recovery.words), self._counts())

    def chance(self, rng: np.random.Generator) -> float:
        """Return the leakage when each text is held against what was read from the vector of another."""
        rows = np.array([row for row, tokens in enumerate(self.sample.tokens) if tokens])
        if rows.size < 2:
            return 0.0
        with_tokens = self.sample.rows(rows)
        shifts = rng.integers(1, rows.size, size=SHIFTS)
        hits = [
            _hits(with_tokens, [self.recovery.words[row] for row in np.roll(rows, shift)]).sum() for shift in shifts
        ]
        return float(np.mean(hits) / self._counts().sum())

    def mean_confidence(self) -> Estimate:
        """Return the mean probability that was given to the true tokens."""
        return ratio(np.array([values.sum() for values in self.confidence]), self._counts())

    def precision(self) -> Estimate | None:
        """Return the share of claimed sensitive words that are really there; None where none was claimed."""
        sensitive = set(self.recovery.vocabulary)
        claimed = [words & sensitive for words in self.recovery.words]
        counts = np.array([len(words) for words in claimed], dtype=np.float64)
        return ratio(_hits(self.sample, claimed), counts) if counts.any() else None

    def r_precision(self) -> Estimate:
        """Return the share of sensitive words among those that the attack is surest of, as many as the text has."""
        return ratio(_ranked_hits(self.sample, self.recovery.vocabulary, self.recovery.scores), self._counts())

    def r_chance(self, frequencies: Mapping[str, int]) -> float:
        """Return the same for someone who always names the words that are most frequent, which needs no vector."""
        blind = np.array([float(frequencies.get(word, 0)) for word in self.recovery.vocabulary])
        hits = _ranked_hits(self.sample, self.recovery.vocabulary, np.tile(blind, (len(self.sample), 1)))
        return float(hits.sum() / self._counts().sum())

    def read_words(self) -> Vector:
        """Return, for each text, the share of its sensitive words that are among those the attack is surest of."""
        counts = self._counts()
        hits = _ranked_hits(self.sample, self.recovery.vocabulary, self.recovery.scores)
        return np.asarray(hits / np.maximum(counts, 1))

    def top_one(self) -> Estimate:
        """Return the share of texts with sensitive tokens whose surest word is one of them."""
        counted = np.array([bool(tokens) for tokens in self.sample.tokens], dtype=np.float64)
        surest = [self.recovery.vocabulary[column] for column in self.recovery.scores.argmax(axis=1)]
        right = _hits(self.sample, [{word} for word in surest])
        return ratio(np.minimum(right, 1.0), counted)

    def auc(self) -> float:
        """Return the chance that a word that is in a text scores above a word that isn't, over all texts and words."""
        try:
            from sklearn.metrics import roc_auc_score
        except ImportError:
            raise MissingExtraError("scikit-learn", "audit") from None
        truth = self.sample.mark_words(self.recovery.vocabulary)
        if truth.all() or not truth.any():
            return 0.5
        return float(roc_auc_score(truth.ravel(), self.recovery.scores.ravel()))

    def known_share(self) -> float:
        """Return the share of the sensitive tokens that the attack had met in training."""
        vocabulary = set(self.recovery.vocabulary)
        met = sum(token.word in vocabulary for tokens in self.sample.tokens for token in tokens)
        return float(met / self._counts().sum())

    def categories(self) -> dict[str, CategoryLeakage]:
        """Return leakage and confidence by category of the concept, the most frequent category first."""
        labels = [token.label for tokens in self.sample.tokens for token in tokens]
        found = {}
        for label in sorted(set(labels), key=lambda label: (-labels.count(label), label)):
            chosen = [[token.label == label for token in tokens] for tokens in self.sample.tokens]
            counts = np.array([sum(flags) for flags in chosen], dtype=np.float64)
            hits = np.array(
                [
                    sum(flag and token.word in words for flag, token in zip(flags, tokens, strict=True))
                    for flags, tokens, words in zip(chosen, self.sample.tokens, self.recovery.words, strict=True)
                ],
                dtype=np.float64,
            )
            sure = np.array([values[flags].sum() for flags, values in zip(chosen, self.confidence, strict=True)])
            found[label] = CategoryLeakage(
                tokens=int(counts.sum()), leakage=ratio(hits, counts), confidence=ratio(sure, counts)
            )
        return found

    def _counts(self) -> Vector:
        return np.array([len(tokens) for tokens in self.sample.tokens], dtype=np.float64)


def tradeoff_rate(*, leakage: float, undefended_leakage: float, utility: float, undefended_utility: float) -> float:
    """Return the paper's R: leakage prevented per utility lost; infinite where nothing was lost."""
    lost, prevented = undefended_utility - utility, undefended_leakage - leakage
    return prevented / lost if lost > 0 else float("inf") if prevented > 0 else 0.0


def mitigation(*, leakage: float, undefended: float) -> float:
    """Return the paper's leakage mitigation: the relative change of leakage, negative where a defense helps."""
    if undefended <= 0:
        raise InvalidInputError(f"mitigation needs an attack that leaks without a defense, got leakage {undefended!r}")
    return (leakage - undefended) / undefended


def _ranked_hits(sample: Sample, vocabulary: Sequence[str], scores: Matrix) -> Vector:
    """Return, for each text, how many of its words are among the surest, as many as it has; ties count by half."""
    truth = sample.mark_words(vocabulary)
    found = np.zeros(len(sample))
    for row, tokens in enumerate(sample.tokens):
        if tokens and truth[row].any():
            ranked = np.sort(scores[row])[::-1]
            last = ranked[min(len(tokens), ranked.size) - 1]
            above, level = scores[row] > last, scores[row] == last
            # Of equals at the border, those that still fit are drawn.
            places = min(len(tokens), ranked.size) - above.sum()
            found[row] = (truth[row] & above).sum() + (truth[row] & level).sum() * places / level.sum()
    return found


def _hits(sample: Sample, claimed: Sequence[frozenset[str] | set[str]]) -> Vector:
    return np.array(
        [sum(token.word in words for token in tokens) for tokens, words in zip(sample.tokens, claimed, strict=True)],
        dtype=np.float64,
    )


def mean_of(values: Vector, *, seed: int = 0) -> Estimate:
    """Return the mean of numbers of any size, with its bootstrap interval."""
    drawn = np.random.default_rng(seed).choice(values, size=(RESAMPLES, values.size)).mean(axis=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value=float(values.mean()), low=float(low), high=float(high))


def ratio(parts: Vector, wholes: Vector, *, seed: int = 0) -> Estimate:
    """Return sum(parts) / sum(wholes), resampled by rows: the words of one text stand and fall together.

    Args:
        parts: What was found in each row.
        wholes: What could have been found; rows with nothing don't count.
        seed: Of the resampling.
    """
    counted = wholes > 0
    if not counted.any():
        raise InvalidInputError("nothing to take a share of: every whole is zero")
    shares = parts[counted].astype(np.float64), wholes[counted].astype(np.float64)
    value = float(shares[0].sum() / shares[1].sum())
    if counted.sum() < 2:
        return Estimate(value=value, low=0.0, high=1.0)

    drawn = np.random.default_rng(seed).multinomial(
        len(shares[0]), np.full(len(shares[0]), 1 / len(shares[0])), RESAMPLES
    )
    values = (drawn @ shares[0]) / np.maximum(drawn @ shares[1], 1e-300)
    ends = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    # A bootstrap never leaves what it saw: where no row had any part, or every row all, it would be sure of itself.
    unseen = float(((1 - LEVEL) / 2) ** (1 / counted.sum()))
    low = unseen if (shares[0] == shares[1]).all() else float(ends[0])
    high = 1 - unseen if not shares[0].any() else float(ends[1])
    return Estimate(value=value, low=low, high=high)
