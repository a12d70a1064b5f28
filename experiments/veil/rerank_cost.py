"""Bytes and milliseconds of reranking, and ranks by the precision of a seal: rerank_cost.py DATA [CACHE].

DATA is a folder with corpus.parquet and queries.parquet (columns id, text), as that of NFCorpus. Times are processor
time on this machine, medians over queries. A text is embedded again; of seals, only the query is.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

import vecveil as vv
from vecveil.core.arrays import to_unit_length
from vecveil.core.key import Key
from vecveil.embedders import resolve_embedder
from vecveil.samples import clinical_sentences, concept_path
from vecveil.veil.embedding import embed_texts

COUNTS, HITS, TIMED, TIMED_TEXTS = (20, 100, 500), 10, 50, 5


def main(data: Path, cache: Path | None) -> None:
    """Print both tables."""
    texts = [text[:700] for text in pq.read_table(data / "corpus.parquet")["text"].to_pylist()]
    queries = pq.read_table(data / "queries.parquet")["text"].to_pylist()
    model = resolve_embedder("minilm", cache=cache)
    documents, asked = (to_unit_length(embed_texts(model, one)) for one in (texts, queries))
    _print_precisions(documents, asked)
    learned = [sentence.text for sentence in clinical_sentences(300)]
    veil = vv.learn(vv.load_concept(concept_path()), learned, embedder="minilm", noise_ratio=0.5)
    # Without the cache, in which the texts are.
    guard = vv.Guard(veil, key=Key.new(), embedder=resolve_embedder("minilm"), ledger="none")
    started = time.process_time()
    seals = guard.sealer.seal(documents, range(len(documents)))
    print(f"\n{guard.sealer.size} bytes a seal; sealing takes {_per_row(started, len(documents)):.1f} µs a record\n")
    print(
        "| candidates | bytes that the store returns more | seals, query as a vector | seals, query as a text | texts |"
    )
    print("| ---: | ---: | ---: | ---: | ---: |")
    for count in COUNTS:
        nearest = [np.argsort(-documents @ query)[:count].tolist() for query in asked[:TIMED]]
        sealed = [[seals[row] for row in rows] for rows in nearest]
        plain = [[texts[row] for row in rows] for rows in nearest]
        times = (
            _time(guard, asked, nearest, sealed),
            _time(guard, queries, nearest, sealed),
            _time(guard, queries, nearest[:TIMED_TEXTS], plain[:TIMED_TEXTS]),
        )
        shown = " | ".join(f"{one:.1f} ms" if one < 100 else f"{one / 1000:.1f} s" for one in times)
        print(f"| {count} | {count * guard.sealer.size:,} | {shown} |", flush=True)


def _print_precisions(documents: np.ndarray, asked: np.ndarray) -> None:
    """Print what each precision keeps of the exact order of candidates."""
    exact = asked @ documents.T
    best = np.argsort(-exact, axis=1)[:, :HITS]
    print(f"{len(documents):,} documents, {len(asked):,} queries\n")
    print("| numbers | bytes a record | of the ten nearest | same first | same ten in the same order |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, kept in (
        ("float32", documents.astype("f4")),
        ("float16", documents.astype("f2")),
        ("int8", _scale(documents)),
    ):
        found = np.argsort(-(asked @ to_unit_length(kept).T), axis=1)[:, :HITS]
        overlap = np.mean([len({*one} & {*other}) / HITS for one, other in zip(found, best, strict=True)])
        first, whole = np.mean(found[:, 0] == best[:, 0]), np.mean((found == best).all(axis=1))
        size = 29 + documents.shape[1] * {"float32": 4, "float16": 2, "int8": 1}[name] + 4 * (name == "int8")
        print(f"| {name} | {size} | {overlap:.2%} | {first:.2%} | {whole:.1%} |")


def _scale(rows: np.ndarray) -> np.ndarray:
    """Return rows in eight bits, each in steps of its own, which are kept beside it."""
    steps = np.abs(rows).max(axis=1, keepdims=True) / 127
    return np.rint(rows / steps) * steps


def _time(
    guard: vv.Guard, queries: Sequence[Any], nearest: Sequence[list[int]], candidates: Sequence[list[Any]]
) -> float:
    """Return the median time of reranking the candidates of a query, in milliseconds."""
    taken = []
    for query, ids, found in zip(queries, nearest, candidates, strict=False):
        started = time.process_time()
        guard.rerank(query, ids, found, top=HITS)
        taken.append(time.process_time() - started)
    return 1000 * statistics.median(taken)


def _per_row(started: float, rows: int) -> float:
    return 1e6 * (time.process_time() - started) / rows


if __name__ == "__main__":
    with threadpool_limits(1, "blas"):
        main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
