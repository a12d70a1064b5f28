"""Contrast sets: texts with the concept, and the same texts without it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage, Spans, split_chunks
from vecveil.concepts.passage import passages as as_passages
from vecveil.concepts.removal import remove_spans
from vecveil.concepts.replacement import collect_surfaces, replace_spans
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

ContrastKind = Literal["removal", "replacement"]


@dataclass(frozen=True, kw_only=True)
class ContrastSet:
    """Pairs of texts that differ in the concept alone: the paper's D+ and D-.

    Attributes:
        with_concept: Texts that hold the concept, as they came.
        without_concept: The same texts with the concept removed, or with other words of its category.
        kind: How the second was made from the first.
        rows: Row of each pair's text in the corpus.
        spans: What the concept found in each text of the corpus, whether it is in a pair or not; `()` for nothing.
        counts: Number of spans for each label that the pairs differ in.
        unseen: Labels that the concept is meant to find, and that it found nowhere: perhaps misspelled.
    """

    with_concept: tuple[str, ...] = field(repr=False)
    without_concept: tuple[str, ...] = field(repr=False)
    kind: ContrastKind
    rows: tuple[int, ...] = field(repr=False)
    spans: tuple[Spans, ...] = field(repr=False)
    counts: Mapping[str, int]
    unseen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.with_concept) == len(self.without_concept) == len(self.rows):
            sizes = (len(self.with_concept), len(self.without_concept), len(self.rows))
            raise InvalidInputError(f"a contrast set needs as many texts with, without, and rows, got {sizes}")
        object.__setattr__(self, "counts", MappingProxyType(dict(self.counts)))

    def __len__(self) -> int:
        return len(self.rows)


def contrast_set(
    concept: Concept,
    texts: Iterable[str | Passage],
    *,
    kind: ContrastKind = "removal",
    seed: int = 0,
    allow_everywhere: bool = False,
    drop_empty: bool = False,
    progress: Progress = silent,
) -> ContrastSet:
    """Return the contrast pairs of a corpus, whose texts are searched once each; texts without the concept make none.

    Args:
        concept: What is private.
        texts: The corpus.
        kind: `removal` deletes the concept; `replacement` puts other words of the same category in its place.
        seed: Chooses the replacements; the same seed gives the same pairs.
        allow_everywhere: Accept a concept that every text holds.
        drop_empty: Leave out texts in which nothing but the concept stands.
        progress: Called after each chunk of texts.

    Raises:
        InvalidInputError: When the corpus is empty, or the concept is in no text, in every text, or all of a text.
    """
    one_of(kind, get_args(ContrastKind), "kind of contrast")
    corpus = as_passages(texts)
    if not corpus:
        raise InvalidInputError("the corpus has no texts")
    spans: list[Spans] = []
    taken_out: list[Spans] = []
    for chunk in split_chunks(corpus, label="finding the concept", progress=progress):
        found, contrast = concept.search(chunk)
        spans += found
        taken_out += contrast
    rows = [row for row, contrast in enumerate(taken_out) if contrast]
    if not rows:
        raise InvalidInputError(f"the concept matches nothing in {len(corpus)} text(s)")
    if len(rows) == len(corpus) and not (allow_everywhere or concept.everywhere):
        raise InvalidInputError(
            f"the concept matches all {len(corpus)} text(s), so nothing tells texts with it from texts without it; "
            "accept that with allow_everywhere=True (--allow-everywhere)"
        )
    changed = _change(kind, [corpus[row] for row in rows], [taken_out[row] for row in rows], seed)
    pairs = _leave_out_empty(dict(zip(rows, changed, strict=True)), drop_empty=drop_empty or concept.everywhere)
    seen = {span.label for each in spans for span in each}
    return ContrastSet(
        with_concept=tuple(corpus[row].text for row in pairs),
        without_concept=tuple(pairs.values()),
        kind=kind,
        rows=tuple(pairs),
        spans=tuple(spans),
        counts=dict(sorted(Counter(span.label for row in pairs for span in taken_out[row]).items())),
        unseen=tuple(label for label in concept.expected if label not in seen),
    )


def _change(kind: ContrastKind, corpus: Sequence[Passage], found: Sequence[Spans], seed: int) -> list[str]:
    if kind == "removal":
        return [remove_spans(passage.text, spans) for passage, spans in zip(corpus, found, strict=True)]
    surfaces = collect_surfaces(corpus, found)
    rng = np.random.default_rng(seed)
    return [replace_spans(passage.text, spans, surfaces, rng) for passage, spans in zip(corpus, found, strict=True)]


def _leave_out_empty(texts: dict[int, str], *, drop_empty: bool) -> dict[int, str]:
    """Return the texts, by row, that have a letter or digit left; raise where others may not be left out."""
    # A lone full stop is no text either: what an embedder makes of it says nothing about the concept.
    kept = {row: text for row, text in texts.items() if any(map(str.isalnum, text))}
    if len(kept) < len(texts) and not drop_empty:
        raise InvalidInputError(
            f"{len(texts) - len(kept)} text(s) are empty without the concept, first in row {min({*texts} - {*kept})}; "
            "leave them out with drop_empty=True (--drop-empty)"
        )
    if not kept:
        raise InvalidInputError(f"all {len(texts)} text(s) with the concept are empty without it")
    return kept
