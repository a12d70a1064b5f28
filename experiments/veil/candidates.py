"""Candidates that hold nine of the ten nearest, by the size of a corpus: candidates.py VEIL DATA [CACHE].

DATA is a folder with corpus.parquet and queries.parquet (columns id, text), as that of FiQA. Part of the corpus stands
for a smaller one. Beyond it, scores are taken for normal: a query's cosines with the documents, and what protection
adds to each, both as measured. Seed 0; the noise is seeded.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.stats import norm

import vecveil as vv
from vecveil.core.arrays import to_unit_length
from vecveil.embedders import resolve_embedder
from vecveil.veil.embedding import embed_texts

HITS, SHARE, QUERIES = 10, 0.9, 500
PARTS = (600, 1_200, 2_500, 5_000, 10_000, 15_000)
BEYOND = (57_638, 1_000_000, 10_000_000)


def main(folder: Path, data: Path, cache: Path | None) -> None:
    """Print one row for each size."""
    rng = np.random.default_rng(0)
    texts = [text for text in pq.read_table(data / "corpus.parquet")["text"].to_pylist() if text.strip()]
    queries = pq.read_table(data / "queries.parquet")["text"].to_pylist()[:QUERIES]
    veil, model = vv.Veil.load(folder), resolve_embedder("minilm", cache=cache)
    clean, asked = (to_unit_length(embed_texts(model, one)) for one in (texts, queries))
    released = to_unit_length(veil.protect(texts, embedder=model, ledger="none", rng=rng))
    exact, found = asked @ clean.T, asked @ released.T
    print(f"{len(texts):,} documents, {len(queries):,} queries, {veil.provenance.measured}\n")
    print("| documents | candidates, measured | simulated |\n| ---: | ---: | ---: |")
    for size in [part for part in PARTS if part < len(texts)] + [len(texts)]:
        part = rng.permutation(len(texts))[:size]
        print(f"| {size:,} | {count_measured(exact[:, part], found[:, part]):,} | {simulate(exact, found, size):,} |")
    for size in BEYOND:
        print(f"| {size:,} | | {simulate(exact, found, size):,} |", flush=True)


def count_measured(exact: np.ndarray, found: np.ndarray) -> int:
    """Return the least number of candidates among which are nine of ten of the nearest, over all queries."""
    nearest = np.argsort(-exact, axis=1)[:, :HITS]
    scores = np.take_along_axis(found, nearest, axis=1)
    ranks = [(row[None, :] > one[:, None]).sum(axis=1) + 1 for row, one in zip(found, scores, strict=True)]
    return round(float(np.quantile(np.concatenate(ranks), SHARE)))


def simulate(exact: np.ndarray, found: np.ndarray, size: int) -> int:
    """Return the same for a corpus of another size, by a normal model of each query's scores."""
    rng = np.random.default_rng(0)
    ranks = []
    for clean, seen in zip(exact, found, strict=True):
        slope, level = np.polyfit(clean, seen, 1)
        error = float(np.std(seen - slope * clean - level))
        mean, spread = float(clean.mean()), float(clean.std())
        # The nearest of so many: the upper order statistics of a normal law.
        tails = np.cumsum(rng.exponential(size=HITS)) / size
        near = mean + spread * norm.isf(np.minimum(tails, 0.5))
        scores = slope * near + level + error * rng.standard_normal(HITS)
        wide = np.hypot(slope * spread, error)
        ranks.append(size * norm.sf((scores - slope * mean - level) / wide) + 1)
    return round(float(np.quantile(np.concatenate(ranks), SHARE)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
