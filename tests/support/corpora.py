"""A corpus for audits that take seconds: a few ordinary words in each text, and in most of them a private one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.audit import Audit, AuditCorpus, AuditPlan, prepare_audit
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.frontier import Workbench
from vecveil.concepts import Concept, terms
from vecveil.concepts.passage import passages
from vecveil.embedders import resolve_embedder
from vecveil.files.vectors import to_vector_column
from vecveil.substitutions.plain import Remove
from vecveil.veil.budget import Budget
from vecveil.veil.words import WordProtection

ILLNESSES = ("asthmaria", "goutosis", "measlitis", "mumpsia")
CITIES = ("lisbonia", "osloville")
FILLERS = ("a", "calm", "day", "for", "him", "in", "long", "rest", "she", "so", "walk", "we")

QUICK = "mlc,epochs=15,batch_size=32,hidden=[32]"
"""A classifier that reads the toy corpus well after a fraction of a second."""


def toy_texts(number: int = 400) -> list[str]:
    """Return distinct texts; of four, two name an illness, one an illness and a city, and one nothing private."""
    rng = np.random.default_rng(3)
    texts: dict[str, None] = {}
    while len(texts) < number:
        words = list(rng.choice(FILLERS, size=3))
        kind = len(texts) % 4
        # What is said twice weighs more in the vector, as the words that matter do with a real model.
        words += [rng.choice(ILLNESSES)] * 2 * (kind < 3) + [rng.choice(CITIES)] * 2 * (kind == 2)
        texts[" ".join(rng.permutation(words))] = None
    return list(texts)


def toy_concept() -> Concept:
    """Return the concept of illnesses and cities."""
    return terms(*ILLNESSES, label="ILLNESS") | terms(*CITIES, label="CITY")


def toml_of(*parts: tuple[str, Sequence[str]]) -> str:
    """Return a concept file that has these labels with these terms."""
    blocks = (f'[[part]]\nkind = "terms"\nlabel = "{label}"\nterms = {list(words)}\n' for label, words in parts)
    return "\n".join(blocks)


TOY_CONCEPT = toml_of(("ILLNESS", ILLNESSES), ("CITY", CITIES))


@cache
def toy_corpus(number: int = 400) -> AuditCorpus:
    """Return the corpus as an audit sees it."""
    return AuditCorpus.from_texts(toy_concept(), passages(toy_texts(number)), MemoizedEmbedder(WordEmbedder()))


def toy_plan(
    *ratios: float,
    attacks: tuple[str, ...] = (QUICK,),
    tasks: tuple[str, ...] = ("neighbors,queries=50",),
    defenses: tuple[str, ...] = ("veil",),
    baselines: tuple[str, ...] = (),
    seeds: tuple[int, ...] = (0,),
    examples: int = 2,
) -> AuditPlan:
    """Return a plan with the veil at these noise ratios, 1 where none is named."""
    budgets = tuple(Budget(value=ratio, scale="noise-ratio") for ratio in ratios or (1.0,))
    return AuditPlan(
        attacks=attacks,
        tasks=tasks,
        budgets=budgets,
        defenses=defenses,
        baselines=baselines,
        seeds=seeds,
        examples=examples,
    )


def toy_audit(plan: AuditPlan | None = None, *, texts: int = 400) -> Audit:
    """Return the audit of a plan on the toy corpus."""
    return prepare_audit(plan or toy_plan(), made_veil(), toy_concept(), toy_texts(texts), embedder=WordEmbedder())


TOY_TASK = "neighbors,protected=documents"
"""With eight dimensions and a few words in a text, other searches are a matter of luck."""


@cache
def toy_workbench() -> Workbench:
    """Return the workbench of the toy corpus, on which utility is how many neighbors stay."""
    texts = passages(toy_texts(200))
    return Workbench.from_texts(toy_concept(), texts, embedder=WordEmbedder(), copies=1, tasks=(TOY_TASK,))


TOY_EMBEDDER = "precomputed:known.parquet@words"
"""The embedder of that place, which its user must name."""


def write_vectors(path: Path, texts: list[str]) -> None:
    """Write texts with their vectors, so that no model is needed."""
    parquet.write_table(pa.table({"text": texts, "vector": to_vector_column(WordEmbedder().embed(texts))}), path)


def write_toy_place(folder: Path, *, texts: int = 200) -> None:
    """Write all that `vecveil audit a.veil notes.txt` needs into the working folder: veil, texts, concept, vectors."""
    notes = toy_texts(texts)
    removal = WordProtection(substitution=Remove(), concept=toy_concept())
    removed = removal.rewrite(notes, [lambda *_: 0.0] * len(notes)).texts
    known = list(dict.fromkeys([*notes, *map(toy_concept().remove, notes), *removed]))
    write_vectors(folder / "known.parquet", known)
    plain = made_veil(embedder=TOY_EMBEDDER, fingerprint=resolve_embedder(TOY_EMBEDDER).fingerprint)
    provenance = replace(plain.provenance, concept=dict(toy_concept().summary()))
    replace(plain, provenance=provenance, concept=toy_concept()).save(folder / "a.veil")
    (folder / "notes.txt").write_text("\n".join(notes))
    (folder / "concept.toml").write_text(TOY_CONCEPT)
