"""Sentences as an attack reads them, before and after protection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from reproduction.defenses import DefenseName
from reproduction.grid import budgets
from reproduction.lab import Lab
from reproduction.published import read_published
from reproduction.result import PaperResult, Row, row_of
from reproduction.sentences import Shown, sentences_table
from vecveil.audit.attack_runner import AttackRunner
from vecveil.audit.audit import attack_from_spec
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.rows import Reconstruction, Setting
from vecveil.core.errors import VecveilError
from vecveil.embedders import resolve_embedder

NOISES = ("laplace", "purkayastha", "sparse", "vecveil")
EXAMPLES = {"age": (5, "Age"), "disease": (10, "Disease_disorder")}
"""What each example of the paper is about, its epsilon, and the label in the data."""

READ = 200
"""Test sentences whose reconstructions are looked at for the examples."""


@dataclass(frozen=True, kw_only=True)
class Readings:
    """What was read of each test sentence."""

    readings: tuple[Reconstruction, ...]


@dataclass(frozen=True, kw_only=True)
class CaseStudy:
    """Clinical sentences and what is read out of their vectors, with its similarity by another model.

    The sentences themselves are in a table of their own, which holds private texts.
    """

    name: ClassVar[str] = "case-study"
    title: ClassVar[str] = "Clinical sentences before and after protection"
    where: ClassVar[str] = "Appendix, case study"

    def run(self, lab: Lab) -> PaperResult:
        """Return the reconstructions, and how similar they are to what was written."""
        judge, judged = _judge(lab)
        rows: list[Row] = []
        shown: list[Shown] = []
        for example, (epsilon, label) in EXAMPLES.items():
            defenses = [DefenseName(name="none")]
            defenses += [DefenseName(name=name, budget=one) for one in budgets(lab, (epsilon,)) for name in NOISES]
            found = [
                (defense, _readings(lab, judge, defense))
                for defense in lab.progress(defenses, label=f"{self.name}, {example}", total=len(defenses))
            ]
            place = _telling(lab, found[0][1], label)
            for defense, readings in found:
                keys = {"example": example, "epsilon": str(epsilon), "defense": defense.name}
                similar = [one.similarity for one in readings if one.similarity is not None]
                mean = [float(np.mean(similar))] if similar else []
                scale = "" if defense.budget is None else defense.budget.scale
                if place is not None and similar:
                    one = readings[place].similarity or 0.0
                    printed = None if scale == "literal" else read_published(self.name).value(keys, "similarity")
                    rows.append(row_of(keys, "similarity", [one], scale=scale, paper=printed))
                rows.append(row_of(keys, "mean similarity", mean, scale=scale))
            if place is not None:
                private, text = _private(lab, place, label)
                readings_of = {defense.title: readings[place] for defense, readings in found}
                shown.append(Shown(example=example, text=text, private=private, readings=readings_of))
        notes = [
            f"clinical: {_stands_in(lab)}; all four of its categories are protected at once.",
            f"The attack is {lab.main_attack}; {judged}. Similarity is of one sentence, the first whose private word "
            f"is read where nothing is defended; the mean is over {READ}; the first seed.",
        ]
        return PaperResult(
            name=self.name,
            title=self.title,
            rows=tuple(rows),
            notes=tuple(notes),
            lab=lab.facts(),
            tables=(sentences_table(shown),),
        )


def _stands_in(lab: Lab) -> str:
    return lab.dataset("clinical").stands_in or "MIMIC-III, as in the paper"


def _judge(lab: Lab) -> tuple[MemoizedEmbedder | None, str]:
    """Return another embedder than the attacked one to compare sentences with, and how it is called."""
    other = "mpnet" if lab.embedder != "mpnet" else "minilm"
    try:
        found = resolve_embedder(other, cache=lab.cache)
        found.embed(["a sentence"])
    except VecveilError as error:
        return None, f"no similarity, since {other} can't be had ({error})"
    return MemoizedEmbedder(found, lab.progress), f"similarity by {other}"


def _readings(lab: Lab, judge: MemoizedEmbedder | None, defense: DefenseName) -> tuple[Reconstruction, ...]:
    bench, seed, name = lab.bench("clinical"), lab.effort.seeds[0], defense.name
    facts = {
        "defense": defense.key(),
        "attack": lab.attack_key(lab.main_attack),
        "judge": None if judge is None else judge.embedder.fingerprint.settings(),
        "read": READ,
    }

    def measure(rng: np.random.Generator, folder: Path) -> Readings:
        del folder
        attacker = AttackRunner(corpus=bench.corpus, embed=bench.embed, judge=judge, copies=bench.copies, examples=READ)
        setting = Setting(defense=name, label=name, asked="", readings=None, seed=seed)
        attack = attack_from_spec(lab.attack(lab.main_attack))
        return Readings(readings=attacker.attack(name, attack, setting, defense.build(bench, seed), rng).readings)

    return lab.run("readings", bench, seed, Readings, measure, **facts).readings


def _telling(lab: Lab, readings: tuple[Reconstruction, ...], label: str) -> int | None:
    """Return the first sentence of which a private word of that label is read; None where there is none."""
    for place, reading in enumerate(readings):
        private, _ = _private(lab, place, label)
        if private & {*reading.leaked}:
            return place
    return None


def _private(lab: Lab, place: int, label: str) -> tuple[set[str], str]:
    """Return the private words of that label in the sentence that was read in that place, and the sentence."""
    bench = lab.bench("clinical")
    attacker = AttackRunner(corpus=bench.corpus, embed=bench.embed, judge=None, copies=1, examples=READ)
    row = attacker.example_rows(lab.effort.seeds[0])[place]
    words = {token.word for token in bench.corpus.tokens[row] if token.label == label}
    return words, bench.corpus.passages[row].text
