"""What a veil tells someone who knows all of its texts but one: differencing.py CONCEPT TEXTS [CACHE].

The last text is one of several candidates. Someone who knows the others works it out from the center (the sum less
all others), or learns the veil anew with each candidate and takes the one whose axes fit the veil best.
Beside it, how well the question "was this text among them" is answered in the same way. Half of the time it was.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from vecveil.accounting import GaussianLoss
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.concepts import load_concept
from vecveil.embedders import resolve_embedder
from vecveil.shapes import FittedShape
from vecveil.shapes.canonical import Canonical
from vecveil.shapes.erasure import release_center
from vecveil.veil import read_passages

CANDIDATES, TRIALS, DIRECTIONS, SEED = 10, 30, 20, 0


def main(concept_file: Path, texts_file: Path, cache: Path | None) -> None:
    """Print one row per part of a veil."""
    passages = read_passages(texts_file, text_column="text", annotations_column=None, skip_empty=True)
    embed = MemoizedEmbedder(resolve_embedder("minilm", cache=cache))
    corpus = AuditCorpus.from_texts(load_concept(concept_file), passages, embed)
    rng = np.random.default_rng(SEED)
    private = np.flatnonzero([bool(tokens) for tokens in corpus.tokens])
    right = dict.fromkeys(("center, exact", "center, as released", "axes"), 0)
    scores: dict[str, list[float]] = {part: [] for part in right}
    for _ in range(TRIALS):
        last, *_ = candidates = rng.choice(private, CANDIDATES, replace=False)
        known = np.setdiff1d(np.arange(len(corpus.clean)), candidates)
        veil = _learn(corpus, [*known, last])
        released = release_center(veil.shape, corpus.evidence([*known, last]).corpus, GaussianLoss(), rng)
        guesses = [_learn(corpus, [*known, candidate]) for candidate in candidates]
        distances = {
            "center, exact": [_apart(veil.shape.center, guess.shape.center) for guess in guesses],
            "center, as released": [_apart(released.center, guess.shape.center) for guess in guesses],
            "axes": [_axes_apart(veil, guess) for guess in guesses],
        }
        for part, found in distances.items():
            right[part] += int(np.argmin(found) == 0)
            scores[part] += [-found[0], -found[1]]
    print(f"| known: all but one of {len(corpus.clean):,} | last text found among {CANDIDATES} | membership, AUC |")
    print("| --- | ---: | ---: |")
    for part, count in right.items():
        auc = roc_auc_score([1, 0] * TRIALS, scores[part])
        print(f"| {part} | {count} of {TRIALS} | {auc:.2f} |")


def _learn(corpus: AuditCorpus, rows: list[int]) -> FittedShape:
    evidence = corpus.evidence([int(row) for row in rows])
    return Canonical(directions=DIRECTIONS).fit(evidence, np.random.default_rng(SEED))


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other))


def _axes_apart(one: FittedShape, other: FittedShape) -> float:
    first, second = one.shape.unreleased_axes, other.shape.unreleased_axes
    return _apart(first @ first.T, second @ second.T)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
