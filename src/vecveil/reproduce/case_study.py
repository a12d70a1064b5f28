"""Sentences as an attack reads them, before and after protection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vecveil.audit.attacking import Attacker
from vecveil.audit.encoding import Memory
from vecveil.audit.prepare import attack_of
from vecveil.audit.results import Reconstruction, Setting
from vecveil.core.digests import json_digest
from vecveil.core.errors import VecveilError
from vecveil.embedders import resolve_embedder
from vecveil.reproduce.defences import DefenceName
from vecveil.reproduce.finding import Finding, Row, row_of
from vecveil.reproduce.grid import budgets
from vecveil.reproduce.lab import Lab
from vecveil.reproduce.published import published
from vecveil.reproduce.sentences import Shown, sentences_table

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

    def run(self, lab: Lab) -> Finding:
        """Return the reconstructions, and how similar they are to what was written."""
        judge, judged = _judge(lab)
        rows: list[Row] = []
        shown: list[Shown] = []
        for example, (epsilon, label) in EXAMPLES.items():
            defences = [DefenceName(name="none")]
            defences += [DefenceName(name=name, budget=one) for one in budgets(lab, (epsilon,)) for name in NOISES]
            found = [
                (defence, _readings(lab, judge, defence))
                for defence in lab.progress(defences, label=f"{self.name}, {example}", total=len(defences))
            ]
            place = _telling(lab, found[0][1], label)
            for defence, readings in found:
                keys = {"example": example, "epsilon": str(epsilon), "defence": defence.name}
                similar = [one.similarity for one in readings if one.similarity is not None]
                mean = [float(np.mean(similar))] if similar else []
                scale = "" if defence.budget is None else defence.budget.scale
                if place is not None and similar:
                    one = readings[place].similarity or 0.0
                    printed = None if scale == "literal" else published(self.name).value(keys, "similarity")
                    rows.append(row_of(keys, "similarity", [one], scale=scale, paper=printed))
                rows.append(row_of(keys, "mean similarity", mean, scale=scale))
            if place is not None:
                private, text = _private(lab, place, label)
                readings_of = {defence.title: readings[place] for defence, readings in found}
                shown.append(Shown(example=example, text=text, private=private, readings=readings_of))
        notes = [
            f"clinical: {_stands_in(lab)}; all four of its categories are protected at once.",
            f"The attack is {lab.main_attack}; {judged}. Similarity is of one sentence, the first whose private word "
            f"is read where nothing is defended; the mean is over {READ}; the first seed.",
        ]
        return Finding(
            name=self.name,
            title=self.title,
            rows=tuple(rows),
            notes=tuple(notes),
            lab=lab.facts(),
            tables=(sentences_table(shown),),
        )


def _stands_in(lab: Lab) -> str:
    return lab.dataset("clinical").stands_in or "MIMIC-III, as in the paper"


def _judge(lab: Lab) -> tuple[Memory | None, str]:
    """Return another embedder than the attacked one to compare sentences with, and how it is called."""
    other = "mpnet" if lab.embedder != "mpnet" else "minilm"
    try:
        found = resolve_embedder(other, cache=lab.cache)
        found.embed(["a sentence"])
    except VecveilError as error:
        return None, f"no similarity, since {other} can't be had ({error})"
    return Memory(found, lab.progress), f"similarity by {other}"


def _readings(lab: Lab, judge: Memory | None, defence: DefenceName) -> tuple[Reconstruction, ...]:
    bench, seed, name = lab.bench("clinical"), lab.effort.seeds[0], defence.name
    facts = {
        "defence": defence.key(),
        "attack": lab.attack_key(lab.main_attack),
        "judge": None if judge is None else judge.embedder.fingerprint.settings(),
        "read": READ,
    }

    def measured() -> Readings:
        attacker = Attacker(corpus=bench.corpus, embed=bench.embed, judge=judge, copies=bench.copies, examples=READ)
        setting = Setting(defence=name, label=name, asked="", dials=None, seed=seed)
        rng = np.random.default_rng(int(json_digest(facts)[:15], 16))
        attack = attack_of(lab.attack(lab.main_attack))
        return Readings(readings=attacker.attack(name, attack, setting, defence.build(bench, seed), rng).readings)

    return lab.kept("readings", bench, seed, Readings, measured, **facts).readings


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
    attacker = Attacker(corpus=bench.corpus, embed=bench.embed, judge=None, copies=1, examples=READ)
    row = attacker.example_rows(lab.effort.seeds[0])[place]
    words = {token.word for token in bench.corpus.tokens[row] if token.label == label}
    return words, bench.corpus.passages[row].text
