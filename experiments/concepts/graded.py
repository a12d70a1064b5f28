"""Compare randomized response with the exponential mechanism at the same epsilon: `python graded.py --data DATA`.

Both put a candidate of the same category in the place of a private word. Randomized response keeps the word, or takes
any other, each alike. The exponential mechanism takes a candidate with odds exp(t * u), where u is the cosine of both
in the embedder, which anyone can compute. "halved" has t = epsilon over twice the range of u, as it is printed;
"exact" has the largest t at which no two words have odds that differ by more than epsilon.

Fill in the blank: how often the best guess of the word is right for someone who has the rest of the text and sees the
outcome itself. Closeness: the mean cosine of a word and its outcome. Search: nDCG@10 of known-item search in the same
texts, over that of texts as they came.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow.parquet as pq

from vecveil.audit.defenses import Embed
from vecveil.audit.frontier.workbench import Workbench
from vecveil.concepts import Concept, Passage, load_concept
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.substitutions import Substitution, fold_value
from vecveil.substitutions.randomize import Randomize
from vecveil.veil.words import WordProtection

CONCEPTS = Path(__file__).parents[1] / "frontier"
EPSILONS = (1.0, 2.0, 4.0, 6.0, 8.0)
MOST = 150
"""Texts with the concept, and as many without it."""

SEEDS = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Graded(Substitution):
    """The exponential mechanism over the candidates of one category.

    Attributes:
        words: The candidates.
        similarity: Of each pair.
        scale: By which it is multiplied.
    """

    name: ClassVar[str] = "graded"
    word_epsilon: ClassVar[float] = 0.0

    words: Sequence[str]
    similarity: Matrix = field(repr=False)
    scale: float

    @cached_property
    def law(self) -> Matrix:
        """The probability of each outcome, by word."""
        weights = np.exp(self.scale * (self.similarity - self.similarity.max()))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    @cached_property
    def rows(self) -> dict[str, int]:
        """The number of each word."""
        return {fold_value(word): row for row, word in enumerate(self.words)}

    def outcomes(self, label: str, value: str) -> Mapping[str, float]:
        """Return the candidates, each with its probability."""
        del label
        row = self.rows.get(fold_value(value))
        law = np.full(len(self.words), 1 / len(self.words)) if row is None else self.law[row]
        return dict(zip(self.words, law.tolist(), strict=True))


def main() -> None:
    """Print one table for each concept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="Folder of the benchmark data.")
    parser.add_argument("--embedder", default="minilm")
    asked = parser.parse_args()
    for name, texts in (("countries", read_sentences(asked.data)), ("conditions", read_reports(asked.data))):
        concept = load_concept(CONCEPTS / f"{name}.toml")
        compare(name, concept, choose_texts(concept, texts), asked.embedder)


def compare(name: str, concept: Concept, texts: Sequence[Passage], embedder: str) -> None:
    """Print how both mechanisms do at each epsilon."""
    bench = Workbench.from_texts(concept, texts, embedder=embedder, measure="search")
    ((label, words),) = concept.candidates().items()
    words = tuple({fold_value(word): word for word in words}.values())
    vectors = np.asarray(bench.embed(list(words)), dtype=np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = vectors @ vectors.T
    removed = bench.utility.share_kept(bench.redacted, np.random.default_rng(0))
    print(
        f"\n{name}: {len(words)} candidates, {len(texts)} texts; chance {1 / len(words):.3f}; removed {removed:.3f}\n"
    )
    print("| ε | mechanism | best guess right | closeness | search kept |\n| --- | --- | --- | --- | --- |")
    for epsilon in EPSILONS:
        halved = epsilon / (2 * np.ptp(similarity))
        laws = {
            "randomized response": Randomize(epsilon=epsilon, candidates={label: words}),
            "exponential, halved": Graded(words=words, similarity=similarity, scale=halved),
            "exponential, exact": Graded(words=words, similarity=similarity, scale=find_scale(similarity, epsilon)),
        }
        for law_name, law in laws.items():
            chances = np.array([[law.outcomes(label, word)[other] for other in words] for word in words])
            right, close = chances.max(axis=0).mean(), (chances * similarity).sum(axis=1).mean()
            kept = [search(bench, concept, law, seed) for seed in range(SEEDS)]
            print(f"| {epsilon:g} | {law_name} | {right:.3f} | {close:.3f} | {np.mean(kept):.3f} |", flush=True)


def find_scale(similarity: Matrix, epsilon: float) -> float:
    """Return the largest scale at which the odds of an outcome differ by epsilon at most between any two words."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        scale = (low + high) / 2
        weights = scale * similarity
        law = weights - np.log(np.exp(weights - weights.max()).sum(axis=1, keepdims=True)) - weights.max()
        low, high = (scale, high) if np.ptp(law, axis=0).max() <= epsilon else (low, scale)
    return low


@dataclass(frozen=True, kw_only=True, eq=False)
class Replaced:
    """Texts with their private words replaced, without noise."""

    words: WordProtection
    embed: Embed
    noisy: bool = False
    axes: Matrix | None = None

    def protect(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the vectors of the replaced texts."""
        del clean, times
        return self.embed(self.words.rewrite(passages, [lambda *_: rng.random()] * len(passages)).texts)


def search(bench: Workbench, concept: Concept, law: Substitution, seed: int) -> float:
    """Return the share of search that is kept."""
    defense = Replaced(words=WordProtection(substitution=law, concept=concept), embed=bench.embed)
    return bench.utility.share_kept(defense, np.random.default_rng(seed))  # type: ignore[arg-type]


def choose_texts(concept: Concept, texts: Sequence[str]) -> list[Passage]:
    """Return texts with the concept, and as many without it."""
    passages = [Passage(text) for text in dict.fromkeys(texts)]
    found = concept.find_all(passages)
    order = np.random.default_rng(0).permutation(len(passages))
    held = [passages[row] for row in order if found[row]][:MOST]
    return held + [passages[row] for row in order if not found[row]][: len(held)]


def read_sentences(data: Path) -> list[str]:
    """Return the sentences of the similarity benchmarks."""
    files = [pq.read_table(data / name / f"{name}.parquet") for name in ("sts12", "sts14", "stsb")]
    return [text for table in files for side in ("sentence1", "sentence2") for text in table[side].to_pylist()]


def read_reports(data: Path) -> list[str]:
    """Return the sentences of case reports and abstracts."""
    reports = pq.read_table(data / "maccrobat2020" / "sentences.parquet")["text"].to_pylist()
    documents = pq.read_table(data / "nfcorpus" / "corpus.parquet")["text"].to_pylist()
    return reports + [text[:300] for text in documents]


if __name__ == "__main__":
    main()
