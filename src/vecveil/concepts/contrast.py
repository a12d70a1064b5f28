"""Each text with the concept, and the same text without it: the paper's D+ and D-."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.passage import passages as as_passages
from vecveil.concepts.removal import remove_spans
from vecveil.concepts.replacement import collect_surfaces, replace_spans
from vecveil.concepts.span import Spans
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

ContrastKind = Literal["removal", "replacement"]
_CHUNK = 512


@dataclass(frozen=True, kw_only=True)
class ContrastSet:
    """Pairs of texts that differ in the concept alone.

    Attributes:
        with_concept: Texts that hold the concept, as they came.
        without_concept: The same texts with the concept removed, or with other words of its category.
        kind: How the second was made from the first.
        rows: Where each pair's text stands in the corpus.
        counts: Number of spans for each label.
        unseen: Labels that the concept is meant to find, and that it found nowhere: perhaps misspelt.
    """

    with_concept: tuple[str, ...] = field(repr=False)
    without_concept: tuple[str, ...] = field(repr=False)
    kind: ContrastKind
    rows: tuple[int, ...] = field(repr=False)
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
    """Return the contrast pairs of a corpus; texts without the concept are left out.

    Args:
        concept: What is private.
        texts: The corpus.
        kind: `removal` deletes the concept; `replacement` puts other words of the same category in its place.
        seed: Chooses the replacements; the same seed gives the same pairs.
        allow_everywhere: Accept a concept that every text holds.
        drop_empty: Leave out texts in which nothing but the concept stands.
        progress: Told after each chunk of texts.

    Raises:
        InvalidInputError: When the corpus is empty, or the concept is in no text, in every text, or all of a text.
    """
    one_of(kind, get_args(ContrastKind), "kind of contrast")
    corpus = as_passages(texts)
    if not corpus:
        raise InvalidInputError("the corpus has no texts")
    found = _find(concept, corpus, progress)
    rows = [row for row, spans in enumerate(found) if spans]
    if not rows:
        raise InvalidInputError(f"the concept matches nothing in {len(corpus)} text(s)")
    if len(rows) == len(corpus) and not allow_everywhere:
        raise InvalidInputError(
            f"the concept matches all {len(corpus)} text(s), so nothing tells texts with it from texts without it; "
            "accept that with allow_everywhere=True (--allow-everywhere)"
        )
    changed = _change(kind, [corpus[row] for row in rows], [found[row] for row in rows], seed)
    rows, changed = _without_empty(rows, changed, drop_empty=drop_empty)
    counts = Counter(span.label for spans in found for span in spans)
    return ContrastSet(
        with_concept=tuple(corpus[row].text for row in rows),
        without_concept=tuple(changed),
        kind=kind,
        rows=tuple(rows),
        counts=dict(sorted(Counter(span.label for row in rows for span in found[row]).items())),
        unseen=tuple(label for label in concept.expected if label not in counts),
    )


def _find(concept: Concept, corpus: Sequence[Passage], progress: Progress) -> list[Spans]:
    starts = range(0, len(corpus), _CHUNK)
    found: list[Spans] = []
    rest = len(corpus)
    for start in progress(
        starts, label="finding the concept", total=rest, weigh=lambda start: min(_CHUNK, rest - start)
    ):
        found += concept.find_contrast(corpus[start : start + _CHUNK])
    return found


def _change(kind: ContrastKind, corpus: Sequence[Passage], found: Sequence[Spans], seed: int) -> list[str]:
    if kind == "removal":
        return [remove_spans(passage.text, spans) for passage, spans in zip(corpus, found, strict=True)]
    surfaces = collect_surfaces(corpus, found)
    rng = np.random.default_rng(seed)
    return [replace_spans(passage.text, spans, surfaces, rng) for passage, spans in zip(corpus, found, strict=True)]


def _without_empty(rows: list[int], texts: list[str], *, drop_empty: bool) -> tuple[list[int], list[str]]:
    # A lone full stop is no text either: what an embedder makes of it says nothing about the concept.
    kept = [number for number, text in enumerate(texts) if any(map(str.isalnum, text))]
    if len(kept) < len(rows) and not drop_empty:
        first = min(set(range(len(rows))) - set(kept))
        raise InvalidInputError(
            f"{len(rows) - len(kept)} text(s) are empty without the concept, first in row {rows[first]}; "
            "leave them out with drop_empty=True (--drop-empty)"
        )
    if not kept:
        raise InvalidInputError(f"all {len(rows)} text(s) with the concept are empty without it")
    return [rows[number] for number in kept], [texts[number] for number in kept]
