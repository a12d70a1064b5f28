"""Whether protecting one word protects others of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vecveil.audit.budgets import Budget
from vecveil.audit.defences import Defence, Noise, Undefended
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.prepare import make_bench
from vecveil.audit.metrics import mitigation
from vecveil.mechanisms import MECHANISMS
from vecveil.reproduce.finding import Finding, row_of
from vecveil.reproduce.grid import budgets
from vecveil.reproduce.lab import NEAREST, Lab
from vecveil.reproduce.measures import Attacked
from vecveil.reproduce.published import published
from vecveil.reproduce.words import GROUPS, Words, sentences_note
from vecveil.shapes import LabelledCorpus, NoiseShape, build_learner
from vecveil.shapes.canonical import Canonical
from vecveil.shapes.filling import helpful_filling

FIVE = ("weekdays", "country", "months", "gender", "city")
KINDS = ("target", "similar", "other")
MASKS = ("laplace", "sparse", "sparse-working", "vecveil")
"""Noise that is the same everywhere is the control: it knows no word, and hides all alike."""

EPSILON = 10


@dataclass(frozen=True, kw_only=True)
class SimilarTokens:
    """Leakage mitigation for the protected word, for others of its group and for all others, at ε = 10."""

    name: ClassVar[str] = "similar-tokens"
    title: ClassVar[str] = "Mitigation of leakage for target, similar and other words, ε = 10, %"
    where: ClassVar[str] = "Table 5"

    def run(self, lab: Lab) -> Finding:
        """Return the table: the mean over the words of a group, each protected alone."""
        words = Words(lab=lab, groups={name: GROUPS[name] for name in FIVE})
        chosen = words.frequent(lab.effort.words)
        bench = make_bench(
            words.concept,
            words.sentences,
            tasks=(),
            embedder=words.embed.embedder,
            copies=2,
            near_copies=None,
            cache=None,
            progress=lab.progress,
        )
        work = [(budget, group, mask) for budget in budgets(lab, (EPSILON,)) for group in chosen for mask in MASKS]
        rows = []
        for budget, group, mask in lab.progress(work, label=self.name, total=len(work)):
            protection = _Protection(words=words, bench=bench, mask=mask, budget=budget)
            seeds = [protection.means(chosen[group], seed) for seed in lab.effort.seeds]
            compared = mask == "sparse" and budget.scale == "paper"
            for kind in KINDS:
                keys = {"group": group, "tokens": kind}
                printed = published(self.name).value(keys, "mitigation") if compared else None
                values = [100 * one[kind] for one in seeds]
                rows.append(row_of(keys | {"defence": mask}, "mitigation", values, scale=budget.scale, paper=printed))
        notes = (sentences_note(lab), "Positive where leakage fell; the attack is nearest.")
        return Finding(name=self.name, title=self.title, rows=tuple(rows), notes=notes, lab=lab.facts())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Protection:
    """One word protected at a time, by one kind of noise."""

    words: Words
    bench: Bench
    mask: str
    budget: Budget

    def means(self, chosen: list[str], seed: int) -> dict[str, float]:
        """Return the mitigation of each kind of word, the mean over the words of a group that are protected in turn."""
        clean = self._attacked(None, seed)
        found: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for word in chosen:
            behind = self._attacked(word, seed)
            for kind, labels in kinds_of(word, self.words.groups, {*clean.tokens}).items():
                before, after = (_leakage(one, labels) for one in (clean, behind))
                if before:
                    found[kind].append(-mitigation(leakage=after, undefended=before))
        return {kind: float(np.mean(values)) if values else float("nan") for kind, values in found.items()}

    def _attacked(self, word: str | None, seed: int) -> Attacked:
        """Return what is read where one word is protected; nothing is where None."""

        def measured() -> Attacked:
            defence = Undefended() if word is None else self._defence(word, seed)
            return Attacked.of(self.bench.attacked(NEAREST, defence, seed))

        facts = {} if word is None else {"word": word, "mask": self.mask, "budget": self.budget.asked}
        return self.words.lab.kept("word", self.bench, seed, Attacked, measured, **facts)

    def _defence(self, word: str, seed: int) -> Defence:
        """Return the noise for a word, learned from the texts that attacks train on."""
        corpus = self.bench.corpus
        train, held_out, _ = corpus.split(seed)
        rows = np.concatenate([train, held_out])
        pairs, rng = self.words.pairs(word, [corpus.passages[row] for row in rows]), np.random.default_rng(seed)
        filling = None
        if self.mask == "laplace":
            shape = NoiseShape(variances=np.ones(pairs.dimensions))
        elif self.mask == "vecveil":
            held = tuple(
                tuple(token.word for token in corpus.tokens[row] if token.label == word) for row in rows.tolist()
            )
            labelled = LabelledCorpus(vectors=corpus.clean[rows], words=held)
            shape = Canonical().fit(pairs, rng, corpus=labelled).shape
            filling = helpful_filling(shape, labelled, pairs)
        else:
            preset = "paper" if self.mask == "sparse" else None
            shape = build_learner("hard-concrete", preset=preset).fit(pairs, rng).shape
        mechanism = self.budget.mechanism(MECHANISMS.load("mahalanobis"), shape, signal=self.bench.signal)
        return Noise(mechanism=mechanism, axes=shape.axes, filling=filling)


def kinds_of(word: str, groups: Mapping[str, tuple[str, ...]], known: set[str]) -> dict[str, set[str]]:
    """Return the word itself, the others of its group and all others, among the words that are known."""
    group = next({*members} for members in groups.values() if word in members)
    return {"target": {word} & known, "similar": (group - {word}) & known, "other": known - group}


def _leakage(attacked: Attacked, labels: set[str]) -> float:
    total = sum(attacked.tokens[label] for label in labels)
    return sum(attacked.categories[label] * attacked.tokens[label] for label in labels) / total if total else 0.0
