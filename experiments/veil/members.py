"""Membership in the texts that a veil was learned on: members.py CONCEPT TEXTS [CACHE].

Half of the texts are learned from, split so that near copies stay together. Someone who holds the veil asks of a
candidate text how much of its vector lies along the directions that the veil leaves out, where a text that it was
learned on may stick out. 0.5 is what guessing gives.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from vecveil.audit.corpus import AuditCorpus, group_near_copies
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.concepts import load_concept
from vecveil.embedders import resolve_embedder
from vecveil.shapes.canonical import Canonical
from vecveil.veil import read_passages

SEEDS, RAREST, DIRECTIONS = range(5), (1, 2, 3, 5), (0, 20, 64)


def main(concept_file: Path, texts_file: Path, cache: Path | None) -> None:
    """Print one row per number of directions and smallest number of texts that a word must be in."""
    passages = read_passages(texts_file, text_column="text", annotations_column=None, skip_empty=True)
    embed = MemoizedEmbedder(resolve_embedder("minilm", cache=cache))
    corpus = AuditCorpus.from_texts(load_concept(concept_file), passages, embed)
    groups = group_near_copies(corpus.clean, 0.75)
    private = np.array([bool(tokens) for tokens in corpus.tokens])
    lone = _holds_a_lone_word(corpus)
    print("| directions | rarest | left out | AUC | AUC, texts with a word of their own |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for directions in DIRECTIONS:
        for rarest in RAREST:
            every, own, counts = [], [], []
            for seed in SEEDS:
                rng = np.random.default_rng(seed)
                member = (rng.permutation(groups.max() + 1) % 2 == 0)[groups]
                evidence = corpus.evidence(np.flatnonzero(member).tolist())
                shape = Canonical(directions=directions, rarest=rarest).fit(evidence, rng).shape
                scores = _along(shape.axes[:, ~np.isfinite(shape.variances)], corpus.clean - shape.center)
                every.append(roc_auc_score(member[private], scores[private]))
                own.append(roc_auc_score(member[lone], scores[lone]))
                counts.append(shape.dimensions - shape.released)
            asked = directions or "keep=0.95"
            print(f"| {asked} | {rarest} | {np.mean(counts):.0f} | {_mean(every)} | {_mean(own)} |", flush=True)


def _holds_a_lone_word(corpus: AuditCorpus) -> np.ndarray:
    texts: dict[str, int] = {}
    for tokens in corpus.tokens:
        for word in {token.word for token in tokens}:
            texts[word] = texts.get(word, 0) + 1
    return np.array([any(texts[token.word] == 1 for token in tokens) for tokens in corpus.tokens])


def _along(gone: np.ndarray, centered: np.ndarray) -> np.ndarray:
    return np.linalg.norm(centered @ gone, axis=1) / np.linalg.norm(centered, axis=1)


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
