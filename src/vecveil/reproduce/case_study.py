"""Sentences as an attack reads them, before and after protection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vecveil.audit.attacking import Attacker
from vecveil.audit.budgets import Budget
from vecveil.audit.encoding import Memory
from vecveil.audit.prepare import attack_of
from vecveil.audit.results import Reconstruction, Setting
from vecveil.core.digests import json_digest
from vecveil.core.errors import VecveilError
from vecveil.core.specs import parse_spec
from vecveil.embedders import resolve_embedder
from vecveil.reports.cells import number, words
from vecveil.reports.table import Column, Table
from vecveil.reproduce.datasets import dataset
from vecveil.reproduce.defences import TITLES, DefenceName
from vecveil.reproduce.finding import Finding, Row, row_of
from vecveil.reproduce.lab import Lab
from vecveil.reproduce.published import published

DEFENCES = ("none", "laplace", "purkayastha", "sparse", "vecveil")
EXAMPLES = {"age": (5, "Age"), "disease": (10, "Disease_disorder")}
"""What is protected in each example of the paper, at which epsilon, and the label that it has in the data."""

READ = 200
"""Test sentences whose reconstructions are looked at for the examples."""


@dataclass(frozen=True, kw_only=True)
class Readings:
    """What was read of each test sentence."""

    readings: tuple[Reconstruction, ...]


@dataclass(frozen=True, kw_only=True)
class CaseStudy:
    """Clinical sentences and what is read out of their vectors, with its similarity by another model.

    The sentence shown is the first whose private word the attack reads out of unprotected vectors; the mean similarity
    is over all that were read.
    """

    name: ClassVar[str] = "case-study"
    title: ClassVar[str] = "Clinical sentences before and after protection"
    where: ClassVar[str] = "Appendix, case study"

    def run(self, lab: Lab) -> Finding:
        """Return the reconstructions, and how similar they are to what was written."""
        attack = lab.attack(lab.main_attack)
        judge, judged = _judge(lab)
        rows: list[Row] = []
        shown = []
        work = [(example, name) for example in EXAMPLES for name in DEFENCES]
        found = {
            (example, name): _readings(lab, attack, judge, name, EXAMPLES[example][0])
            for example, name in lab.progress(work, label=self.name, total=len(work))
        }
        for example, (epsilon, label) in EXAMPLES.items():
            place = _telling(lab, found[example, "none"], label)
            for name in DEFENCES:
                readings = found[example, name]
                keys = {"example": example, "epsilon": str(epsilon), "defence": name}
                rows.append(
                    row_of(
                        keys,
                        "similarity",
                        [one.similarity for one in readings if one.similarity is not None],
                        scale="paper",
                        paper=published(self.name).value(keys, "similarity"),
                    )
                )
                if place is not None:
                    row, sentence = place
                    shown.append((example, name, readings[row], sentence))
        notes = [
            f"clinical: {dataset('clinical').stands_in}.",
            f"Attack {parse_spec(attack, 'attack').name}; {judged}.",
        ]
        if "vec2text" not in lab.priors:
            notes.append("Without a prior of vec2text, what is shown is the nearest sentence that the attacker knows.")
        return Finding(
            name=self.name,
            title=self.title,
            rows=tuple(rows),
            notes=tuple(notes),
            lab=lab.facts(),
            tables=(_sentences(shown),),
        )


def _judge(lab: Lab) -> tuple[Memory | None, str]:
    """Return another embedder than the attacked one to compare sentences with, and how it is called."""
    other = "mpnet" if lab.embedder != "mpnet" else "minilm"
    try:
        found = resolve_embedder(other, cache=lab.cache)
        found.embed(["a sentence"])
    except VecveilError as error:
        return None, f"no similarity, since {other} can't be had ({error})"
    return Memory(found, lab.progress), f"similarity by {other}"


def _readings(lab: Lab, attack: str, judge: Memory | None, name: str, epsilon: float) -> tuple[Reconstruction, ...]:
    bench, seed = lab.bench("clinical"), lab.effort.seeds[0]
    budget = None if name == "none" else Budget(value=epsilon, scale="paper")
    defence = DefenceName(name=name, budget=budget)
    key = {
        "name": "readings",
        "texts": bench.corpus.digest(),
        "embedder": bench.embed.embedder.fingerprint.settings(),
        "defence": defence.key(),
        "attack": attack,
        "judged": judge is not None,
    }

    def measured() -> Readings:
        attacker = Attacker(corpus=bench.corpus, embed=bench.embed, judge=judge, copies=bench.copies, examples=READ)
        setting = Setting(defence=name, label=name, asked="", dials=None, seed=seed)
        rng = np.random.default_rng(int(json_digest(key)[:15], 16))
        cell = attacker.attack(name, attack_of(attack), setting, defence.build(bench, seed), rng)
        return Readings(readings=cell.readings)

    return lab.kept(key, Readings, measured).readings


def _telling(lab: Lab, readings: tuple[Reconstruction, ...], label: str) -> tuple[int, str] | None:
    """Return the first sentence of which a private word of that label is read without a defence; None where none is."""
    bench, seed = lab.bench("clinical"), lab.effort.seeds[0]
    attacker = Attacker(corpus=bench.corpus, embed=bench.embed, judge=None, copies=1, examples=READ)
    for place, row in enumerate(attacker.example_rows(seed)):
        private = {token.word for token in bench.corpus.tokens[row] if token.label == label}
        if private & {*readings[place].leaked}:
            return place, bench.corpus.passages[row].text
    return None


def _sentences(shown: list[tuple[str, str, Reconstruction, str]]) -> Table:
    rows = []
    for example, name, reading, sentence in shown:
        if name == "none":
            rows.append((words(example), words("what was written"), words(""), words(""), words(sentence)))
        rows.append(
            (
                words(example),
                words(TITLES[name]),
                words("read" if reading.leaked else "hidden"),
                number(reading.similarity),
                words(reading.text or ""),
            )
        )
    return Table(
        name="case-study-sentences",
        title="What was read",
        note="One sentence for each example: the first whose private word is read where nothing is defended.",
        columns=(
            Column(key="example", title="example", words=True),
            Column(key="defence", title="defence", words=True),
            Column(key="outcome", title="private words", words=True),
            Column(key="similarity", title="similarity"),
            Column(key="sentence", title="sentence", words=True),
        ),
        rows=tuple(rows),
    )
