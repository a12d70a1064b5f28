"""Texts: protected vectors beside embedding alone, and backends of a model."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measurement import Benchmark, Measurement, Work, time_benchmarks
from benchmarks.workload import NOISE_RATIO, Workload
from vecveil.concepts import load_concept
from vecveil.core.key import Key
from vecveil.embedders import resolve_embedder
from vecveil.embedders.openvino import LEAST_COSINE
from vecveil.samples import clinical_sentences, concept_path
from vecveil.veil import learn

MODEL, TEXT = "minilm", "µs per text"
ALONE = "embedding alone"


def measure_texts(workload: Workload) -> list[Measurement]:
    """Time texts on their way to protected vectors, under the default veil of the bundled corpus."""
    texts = _list_texts(workload)
    embedder, key = resolve_embedder(MODEL), Key.new()
    veil = learn(load_concept(concept_path()), texts, embedder=embedder, noise_ratio=NOISE_RATIO)
    ids = range(len(texts))
    protect = partial(veil.protect, texts, embedder=embedder)
    with TemporaryDirectory() as folder:
        # A new ledger each time: a keyed release that is on record already costs less.
        ledgers = (Path(folder) / f"{number}.sqlite" for number in count())
        works: dict[str, Work] = {
            "fresh noise": protect,
            "keyed noise": partial(protect, key=key),
            "keyed noise, on record in a ledger": lambda: protect(ids=ids, key=key, ledger=next(ledgers)),
        }
        benchmarks = [Benchmark(ALONE, partial(embedder.embed, texts), len(texts), TEXT)]
        benchmarks += [Benchmark(name, work, len(texts), TEXT, ALONE, 1.1) for name, work in works.items()]
        return time_benchmarks(benchmarks, rounds=workload.rounds)


def measure_embedding(workload: Workload) -> list[Measurement]:
    """Time the backends of a model, and compare their vectors."""
    texts = _list_texts(workload)
    torch, openvino = resolve_embedder(MODEL), resolve_embedder(f"openvino:{MODEL}")
    # Models are loaded and compiled before anything is timed.
    distance = 1 - float(np.vecdot(torch.embed(texts), openvino.embed(texts)).min())
    benchmarks = [
        Benchmark("torch", partial(torch.embed, texts), len(texts), TEXT),
        Benchmark("openvino", partial(openvino.embed, texts), len(texts), TEXT, "torch", 1.0),
    ]
    return [
        *time_benchmarks(benchmarks, rounds=max(2, workload.rounds // 2)),
        Measurement(
            name="openvino, largest cosine distance from torch", value=distance, unit="", target=1 - LEAST_COSINE
        ),
    ]


def _list_texts(workload: Workload) -> list[str]:
    return [sentence.text for sentence in clinical_sentences(workload.texts)]
