"""Rewriting texts before they are embedded: the defences that change words where a veil changes vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.span import Span, Spans, disjoint
from vecveil.core.progress import Progress, silent
from vecveil.core.registry import Registry, build

PLACEHOLDER = "[removed]"
"""Stands where nothing else is left to stand: an embedder needs a text."""

_CHUNK = 512


class Rewriter(Protocol):
    """A way to take a concept out of texts. A dataclass: its fields are what users may set."""

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text rewritten, in order; one in which nothing was found stays as it is.

        The same texts, concept and generator state give the same result. Words are borrowed from the texts given, so
        give all of a corpus at once. A text of which no letter or digit is left becomes `PLACEHOLDER`.

        Args:
            passages: The corpus.
            concept: What is private.
            rng: Chooses, where there is a choice.
            progress: Told after each chunk of texts.
        """
        ...


REWRITERS: Registry[type[Rewriter]] = Registry(
    kind="rewriter",
    builtin={
        "random-replacement": "vecveil.concepts.random_replacement:RandomReplacement",
        "remove": "vecveil.concepts.redaction:Remove",
        "remove-pii": "vecveil.concepts.redaction:RemovePii",
        "semantic-replacement": "vecveil.concepts.semantic_replacement:SemanticReplacement",
    },
    group="vecveil.rewriters",
)


def build_rewriter(name: str, settings: Mapping[str, Any] | None = None) -> Rewriter:
    """Return the rewriter registered as `name`, with `settings` over its defaults."""
    return build(REWRITERS, name, settings or {})


def find_in_chunks(concept: Concept, passages: Sequence[Passage], progress: Progress) -> list[Spans]:
    """Return the spans of each passage, telling how far the search is."""
    found: list[Spans] = []
    total = len(passages)
    starts = range(0, total, _CHUNK)
    for start in progress(starts, label="rewriting", total=total, weigh=lambda start: min(_CHUNK, total - start)):
        found += concept.find_all(passages[start : start + _CHUNK])
    return found


def substitute(text: str, spans: Iterable[Span], chosen: Callable[[str, str], str]) -> str:
    """Return `text` with each span replaced by what `chosen` says for its characters and its label.

    A replacement starts with a capital where what it replaces did.
    """
    pieces, position = [], 0
    for span in disjoint(spans):
        original = text[span.start : span.end]
        other = chosen(original, span.label)
        pieces += [text[position : span.start], other[:1].upper() + other[1:] if original[0].isupper() else other]
        position = span.end
    return "".join([*pieces, text[position:]])


def never_empty(rewritten: Iterable[str], passages: Iterable[Passage]) -> list[str]:
    """Return the rewritten texts, with the placeholder for each that was changed until no letter or digit was left."""
    return [
        text if text == passage.text or any(map(str.isalnum, text)) else PLACEHOLDER
        for text, passage in zip(rewritten, passages, strict=True)
    ]
