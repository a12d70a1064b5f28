"""Learning: the paper's mask beside the plain loop, and shapes in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from vecveil.bench.effort import Effort
from vecveil.bench.line import Line
from vecveil.bench.plain_loop import plain_loop, products_alone
from vecveil.bench.subjects import DIMENSIONS, SEED, unit_vectors
from vecveil.bench.timing import Work, best_seconds
from vecveil.shapes import ContrastPairs, build_learner
from vecveil.shapes.corpus import LabelledCorpus

CLOSED_FORMS = ("canonical", "subspace", "difference", "leace", "neuron-sensitivity")
WORDS = 50


def training_lines(effort: Effort) -> Iterator[Line]:
    """Yield the time of the paper's training, all hundred epochs, from that of some."""
    pairs = contrast_pairs(effort.pairs)
    learner: Any = build_learner("hard-concrete", preset="paper")
    short: Any = replace(learner, epochs=effort.epochs)
    works: dict[str, Work] = {
        "ours": lambda: short.fit(pairs, np.random.default_rng(SEED)),
        "plain": lambda: plain_loop(pairs, short),
        "NumPy's products": lambda: products_alone(pairs, short, in_torch=False),
        "PyTorch's products": lambda: products_alone(pairs, short, in_torch=True),
    }
    took = best_seconds(works, rounds=max(2, effort.rounds // 2))
    whole = {name: value * learner.epochs / effort.epochs for name, value in took.items()}
    what = f"hard-concrete, the paper's settings, {effort.pairs:,} pairs, {learner.epochs} epochs"
    yield Line(what=f"{what}, plain PyTorch loop", value=whole["plain"], unit="s")
    products = min(whole["NumPy's products"], whole["PyTorch's products"])
    yield Line.times_faster(f"{what}, matrix products alone", products, "s", "plain PyTorch loop", whole["plain"])
    yield Line.times_faster(what, whole["ours"], "s", "plain PyTorch loop", whole["plain"], least=5)
    yield Line(what=what, value=whole["ours"], unit="s", wanted=120.0)


def closed_form_lines(effort: Effort) -> Iterator[Line]:
    """Yield the time of the shapes that need no training."""
    pairs, corpus = contrast_pairs(effort.pairs), labelled_corpus(effort.pairs)
    works = {name: fitting(name, pairs, corpus) for name in CLOSED_FORMS}
    took = best_seconds(works, rounds=max(2, effort.rounds // 2))
    for name, value in took.items():
        yield Line(what=f"{name}, {effort.pairs:,} pairs", value=value, unit="s", wanted=2.0)


def fitting(name: str, pairs: ContrastPairs, corpus: LabelledCorpus) -> Work:
    """Return the learning of a shape."""
    learner: Any = build_learner(name)
    known = {"corpus": corpus} if getattr(learner, "reads_corpus", False) else {}
    return lambda: learner.fit(pairs, np.random.default_rng(SEED), **known)


def contrast_pairs(count: int, dimensions: int = DIMENSIONS) -> ContrastPairs:
    """Return pairs that differ along a few directions."""
    rng = np.random.default_rng(SEED)
    first = unit_vectors(count, dimensions)
    moved = 0.1 * rng.standard_normal((count, 8), dtype=np.float32)
    directions = unit_vectors(8, dimensions)
    return ContrastPairs(first, first - moved @ directions)


def labelled_corpus(count: int, dimensions: int = DIMENSIONS) -> LabelledCorpus:
    """Return the pairs' texts with a word each, and as many without any."""
    pairs = contrast_pairs(count, dimensions)
    words = [(f"word {number}",) for number in np.random.default_rng(SEED).integers(0, WORDS, count)]
    vectors = np.concatenate([pairs.with_concept, pairs.without_concept])
    return LabelledCorpus(vectors=vectors, words=(*words, *(((),) * count)))
