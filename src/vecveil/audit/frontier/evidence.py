"""What a defence may be learned from: the training part of an audited corpus, never what attacks are tested on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vecveil.audit.corpus import AuditCorpus
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs
from vecveil.veil.labelled import LabelledTexts


def evidence(corpus: AuditCorpus, rows: Sequence[int]) -> tuple[ContrastPairs, LabelledTexts]:
    """Return the contrast pairs and the labelled texts of the rows with these numbers."""
    held = corpus.pair_passages[: len(corpus.pairs)]
    pair_of = {passage.text: number for number, passage in enumerate(held)}
    texts = corpus.texts
    private = [row for row in rows if corpus.tokens[row]]
    chosen = [pair_of[texts[row]] for row in private if texts[row] in pair_of]
    if len(chosen) < 2:
        raise InvalidInputError(f"a defence is learned from at least 2 contrast pairs, got {len(chosen)}")
    order = np.array([*private, *(row for row in rows if not corpus.tokens[row])], dtype=np.intp)
    pairs = ContrastPairs(corpus.pairs.with_concept[chosen], corpus.pairs.without_concept[chosen])
    labelled = LabelledTexts(
        texts=tuple(texts[row] for row in order),
        tokens=tuple(corpus.tokens[row] for row in order),
        vectors=corpus.clean[order],
        held=len(private),
    )
    return pairs, labelled
