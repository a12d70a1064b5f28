"""Embedding: what can run the packaged model, and how near its vectors are to torch's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vecveil.bench.effort import Effort
from vecveil.bench.line import Line
from vecveil.bench.timing import Work, best_seconds
from vecveil.core.arrays import Embeddings
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.embedders.openvino import LEAST_COSINE
from vecveil.samples import clinical_sentences

MODEL = "minilm"


def embedding_lines(effort: Effort) -> Iterator[Line]:
    """Yield the time a text takes with each backend, and the cosine with the vectors of torch."""
    texts = [sentence.text for sentence in clinical_sentences(effort.texts)]
    torch, openvino = resolve_embedder(MODEL), resolve_embedder(f"openvino:{MODEL}")
    found: dict[str, Embeddings] = {}

    def embedding(name: str, embedder: Embedder) -> object:
        found[name] = embedder.embed(texts)
        return found[name]

    works: dict[str, Work] = {
        "torch": lambda: embedding("torch", torch),
        "openvino": lambda: embedding("openvino", openvino),
    }
    for work in works.values():
        work()
    took = {name: 1e6 * value / len(texts) for name, value in best_seconds(works, rounds=effort.rounds).items()}
    yield Line(what=f"{MODEL}, torch", value=took["torch"], unit="µs a text")
    yield Line.times_faster(f"openvino:{MODEL}", took["openvino"], "µs a text", "torch", took["torch"], least=1.0)
    cosine = float(np.vecdot(found["torch"], found["openvino"]).min())
    what = f"openvino:{MODEL}, least cosine with torch"
    yield Line(what=what, value=cosine, unit="", wanted=LEAST_COSINE, at_least=True)
