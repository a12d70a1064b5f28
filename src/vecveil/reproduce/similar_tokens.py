"""Whether protecting one word protects others of its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vecveil.audit.budgets import Budget
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defences import Noise, Rewritten, Undefended
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.yardstick import SearchYardstick, Utility
from vecveil.audit.metrics import mitigation
from vecveil.concepts.rewriting import build_rewriter
from vecveil.mechanisms import MECHANISMS
from vecveil.reproduce.finding import Finding, Row, row_of
from vecveil.reproduce.lab import NEAREST, Attacked, Lab, attacked_of
from vecveil.reproduce.published import published
from vecveil.reproduce.words import GROUPS, Words, sentences_note
from vecveil.shapes import LabelledCorpus, NoiseShape, build_learner
from vecveil.shapes.canonical import Canonical

FIVE = ("weekdays", "country", "months", "gender", "city")
KINDS = ("target", "similar", "other")
MASKS = ("sparse", "sparse-working", "vecveil")


@dataclass(frozen=True, kw_only=True)
class SimilarTokens:
    """Leakage mitigation for the protected word, for others of its group and for all others, at ε = 10."""

    name: ClassVar[str] = "similar-tokens"
    title: ClassVar[str] = "Mitigation of leakage for target, similar and other words, ε = 10, %"
    where: ClassVar[str] = "Table 5"

    def run(self, lab: Lab) -> Finding:
        """Return the table: the mean over the words of a group, each protected alone."""
        words = Words(lab=lab, groups={name: GROUPS[name] for name in FIVE})
        bench = _bench(words)
        chosen = words.frequent(lab.effort.words)
        rows: list[Row] = []
        work = [(group, mask) for group in chosen for mask in MASKS]
        for group, mask in lab.progress(work, label=self.name, total=len(work)):
            found: dict[str, list[float]] = {kind: [] for kind in KINDS}
            for word in chosen[group]:
                for seed in lab.effort.seeds:
                    for kind, value in _mitigated(words, bench, word, mask, seed).items():
                        found[kind].append(value)
            for kind in KINDS:
                keys = {"group": group, "tokens": kind}
                rows.append(
                    row_of(
                        keys | {"defence": mask},
                        "mitigation",
                        [100 * value for value in found[kind]],
                        scale="paper",
                        paper=published(self.name).value(keys, "mitigation"),
                    )
                )
        notes = (sentences_note(lab), "Positive where leakage fell. The attack is nearest.")
        return Finding(name=self.name, title=self.title, rows=tuple(rows), notes=notes, lab=lab.facts())


def _bench(words: Words) -> Bench:
    corpus = AuditCorpus.of(words.concept, words.sentences, words.embed, progress=words.lab.progress)
    remove = Rewritten.over(corpus.passages, build_rewriter("remove"), words.concept, words.embed, seed=0)
    utility = Utility([SearchYardstick.on(corpus)])
    return Bench(corpus=corpus, utility=utility, embed=words.embed, redacted=remove)


def _mitigated(words: Words, bench: Bench, word: str, mask: str, seed: int) -> dict[str, float]:
    """Return how much less of each kind of word leaks when one word is protected, over what leaks without."""
    clean, behind = (_attacked(words, bench, word, one, seed) for one in (None, mask))
    group = next({*members} for members in words.groups.values() if word in members)
    kinds = {"target": {word}, "similar": group - {word}}
    kinds["other"] = {*clean.tokens} - kinds["target"] - kinds["similar"]
    found = {}
    for kind, labels in kinds.items():
        before, after = (_leakage(one, labels) for one in (clean, behind))
        if before:
            found[kind] = -mitigation(leakage=after, undefended=before)
    return found


def _leakage(attacked: Attacked, labels: set[str]) -> float:
    known = [label for label in labels if label in attacked.tokens]
    total = sum(attacked.tokens[label] for label in known)
    return sum(attacked.categories[label] * attacked.tokens[label] for label in known) / total if total else 0.0


def _attacked(words: Words, bench: Bench, word: str, mask: str | None, seed: int) -> Attacked:
    lab, budget = words.lab, Budget(value=10, scale="paper")
    key = {
        "name": "word",
        "texts": bench.corpus.digest(),
        "embedder": words.embed.embedder.fingerprint.settings(),
        "word": word if mask else "",
        "mask": mask or "",
        "attack": NEAREST,
        "seed": seed,
    }

    def measured() -> Attacked:
        if mask is None:
            return attacked_of(bench.attacked(NEAREST, Undefended(), seed))
        shape = _shape(words, bench, word, mask, seed)
        mechanism = budget.mechanism(MECHANISMS.load("mahalanobis"), shape, signal=bench.signal)
        return attacked_of(bench.attacked(NEAREST, Noise(mechanism=mechanism, axes=shape.axes), seed))

    return lab.kept(key, Attacked, measured)


def _shape(words: Words, bench: Bench, word: str, mask: str, seed: int) -> NoiseShape:
    pairs, rng = words.pairs(word), np.random.default_rng(seed)
    if mask == "vecveil":
        held = tuple(tuple(token.word for token in tokens if token.label == word) for tokens in bench.corpus.tokens)
        corpus = LabelledCorpus(vectors=bench.corpus.clean, words=held)
        return Canonical().fit(pairs, rng, corpus=corpus).shape
    preset = "paper" if mask == "sparse" else None
    return build_learner("hard-concrete", preset=preset).fit(pairs, rng).shape
