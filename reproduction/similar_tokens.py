"""Protection of one word, and what it does to similar ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reproduction.grid import budgets
from reproduction.lab import NEAREST, Lab
from reproduction.measures import Attacked
from reproduction.published import read_published
from reproduction.result import PaperResult, row_of
from reproduction.words import GROUPS, Words, sentences_note
from vecveil.audit.defenses import Defense, Undefended, Veiled, make_veil
from vecveil.audit.frontier import Workbench
from vecveil.audit.metrics import mitigation
from vecveil.shapes import Evidence, LabeledEmbeddings, build_learner
from vecveil.veil.budget import Budget

FIVE = ("weekdays", "country", "months", "gender", "city")
KINDS = ("target", "similar", "other")
MASKS = {
    "laplace": ("uniform", None),
    "sparse": ("hard-concrete", "paper"),
    "sparse-working": ("hard-concrete", None),
    "vecveil": ("canonical", None),
}
"""Noise that is the same everywhere is the control: it knows no word, and hides all alike."""

EPSILON = 10


@dataclass(frozen=True, kw_only=True)
class SimilarTokens:
    """Leakage mitigation for the protected word, for others of its group and for all others, at ε = 10."""

    name: ClassVar[str] = "similar-tokens"
    title: ClassVar[str] = "Mitigation of leakage for target, similar and other words, ε = 10, %"
    where: ClassVar[str] = "Table 5"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table: the mean over the words of a group, each protected alone."""
        words = Words(lab=lab, groups={name: GROUPS[name] for name in FIVE})
        chosen = words.frequent(lab.effort.words)
        bench = Workbench.from_texts(
            words.concept, words.sentences, embedder=words.embed.embedder, progress=lab.progress
        )
        work = [(budget, group, mask) for budget in budgets(lab, (EPSILON,)) for group in chosen for mask in MASKS]
        rows = []
        for budget, group, mask in lab.progress(work, label=self.name, total=len(work)):
            protection = _Protection(words=words, bench=bench, mask=mask, budget=budget)
            seeds = [protection.means(chosen[group], seed) for seed in lab.effort.seeds]
            compared = mask == "sparse" and budget.scale == "paper"
            for kind in KINDS:
                keys = {"group": group, "tokens": kind}
                printed = read_published(self.name).value(keys, "mitigation") if compared else None
                values = [100 * one[kind] for one in seeds]
                rows.append(row_of(keys | {"defense": mask}, "mitigation", values, scale=budget.scale, paper=printed))
        notes = (sentences_note(lab), "Positive where leakage fell; the attack is nearest.")
        return PaperResult(name=self.name, title=self.title, rows=tuple(rows), notes=notes, lab=lab.facts())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Protection:
    """One word protected at a time, by one kind of noise."""

    words: Words
    bench: Workbench
    mask: str
    budget: Budget

    def means(self, chosen: list[str], seed: int) -> dict[str, float]:
        """Return the mitigation of each kind of word, the mean over the words of a group that are protected in turn."""
        clean = self._attack(None, seed)
        found: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for word in chosen:
            behind = self._attack(word, seed)
            for kind, labels in kinds_of(word, self.words.groups, {*clean.tokens}).items():
                before, after = (_leakage(one, labels) for one in (clean, behind))
                if before:
                    found[kind].append(-mitigation(leakage=after, undefended=before))
        return {kind: float(np.mean(values)) if values else float("nan") for kind, values in found.items()}

    def _attack(self, word: str | None, seed: int) -> Attacked:
        """Return what is read where one word is protected; nothing is where None."""

        def measure(*_: Any) -> Attacked:
            defense = Undefended() if word is None else self._defense(word, seed)
            return Attacked.from_row(self.bench.attack(NEAREST, defense, seed))

        facts = {} if word is None else {"word": word, "mask": self.mask, "budget": self.budget.asked}
        return self.words.lab.run("word", self.bench, seed, Attacked, measure, **facts)

    def _defense(self, word: str, seed: int) -> Defense:
        """Return the noise for a word, learned from the texts that attacks train on."""
        corpus = self.bench.corpus
        train, held_out, _ = corpus.split(seed)
        rows = np.concatenate([train, held_out])
        pairs = self.words.pairs(word, [corpus.passages[row] for row in rows])
        labels = [tuple(token.word for token in corpus.tokens[row] if token.label == word) for row in rows.tolist()]
        evidence = Evidence(pairs, LabeledEmbeddings(vectors=corpus.clean[rows], words=labels))
        name, preset = MASKS[self.mask]
        shape = build_learner(name, preset=preset).fit(evidence, np.random.default_rng(seed)).shape
        veil = make_veil(shape, pairs, self.bench.embed.embedder.fingerprint, learner=name)
        return Veiled(veil=veil, epsilon=veil.epsilon_at(self.budget))


def kinds_of(word: str, groups: Mapping[str, tuple[str, ...]], known: set[str]) -> dict[str, set[str]]:
    """Return the word itself, the others of its group and all others, among the words that are known."""
    group = next({*members} for members in groups.values() if word in members)
    return {"target": {word} & known, "similar": (group - {word}) & known, "other": known - group}


def _leakage(attacked: Attacked, labels: set[str]) -> float:
    total = sum(attacked.tokens[label] for label in labels)
    return sum(attacked.categories[label] * attacked.tokens[label] for label in labels) / total if total else 0.0
