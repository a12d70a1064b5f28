"""How many texts `private-subspace` takes: private_directions.py [CACHE]. Bundled sentences, minilm, seed 0."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from vecveil import samples
from vecveil.concepts import contrast_set, load_concept
from vecveil.concepts.passage import passages
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import resolve_embedder
from vecveil.shapes import ContrastPairs, Evidence, LabeledEmbeddings
from vecveil.shapes.private_subspace import PrivateSubspace

TEXTS, PAIRS, EPSILONS = 24_000, (1_000, 2_000, 4_000, 8_000, 12_000), (1.0, 2.0, 4.0)


def main(cache: Path | None) -> None:
    """Print directions found and the share of the concept's changes in them, by pairs and epsilon."""
    embedder = resolve_embedder("openvino:minilm", cache=cache)
    corpus = passages(sentence.text for sentence in samples.clinical_sentences(TEXTS))
    contrast = contrast_set(load_concept(samples.concept_path()), corpus, kind="removal", seed=0)
    first, second = (np.asarray(embedder.embed(one)) for one in (contrast.with_concept, contrast.without_concept))
    print("| texts with the concept | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
    print("| ---: | " + " | ".join("---:" for _ in EPSILONS) + " |")
    for count in PAIRS:
        pairs = ContrastPairs(first[:count], second[:count])
        evidence = Evidence(pairs, LabeledEmbeddings(vectors=first[:count], words=[("private",)] * count))
        print(f"| {count:,} | " + " | ".join(_describe(evidence, epsilon) for epsilon in EPSILONS) + " |")


def _describe(evidence: Evidence, epsilon: float) -> str:
    try:
        fitted = PrivateSubspace(epsilon=epsilon).fit(evidence, np.random.default_rng(0))
    except InvalidInputError:
        return "none"
    changes = np.asarray(evidence.pairs.with_concept, dtype=np.float64) - evidence.pairs.without_concept
    share = ((changes @ fitted.shape.unreleased_axes) ** 2).sum() / (changes**2).sum()
    return f"{fitted.facts['directions']:.0f}, {share:.0%}"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
