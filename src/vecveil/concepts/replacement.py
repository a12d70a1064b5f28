"""Putting another word of the same category in the place of a private one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from vecveil.concepts.passage import Passage
from vecveil.concepts.span import Span, Spans, disjoint
from vecveil.core.errors import InvalidInputError


def collect_surfaces(passages: Sequence[Passage], found: Sequence[Spans]) -> dict[str, tuple[str, ...]]:
    """Return, for each label, the distinct surface forms that the spans of a corpus have.

    Forms that differ only in case count as one, and the one with fewer capitals is kept, so that a word that once
    began a sentence does not carry its capital into the middle of another.
    """
    forms: dict[str, dict[str, str]] = {}
    for passage, spans in zip(passages, found, strict=True):
        for span in spans:
            surface = " ".join(passage.text[span.start : span.end].split())
            if surface:
                known = forms.setdefault(span.label, {})
                folded = surface.casefold()
                known[folded] = max(known.get(folded, surface), surface)
    return {label: tuple(sorted(known.values())) for label, known in sorted(forms.items())}


def replace_spans(
    text: str, spans: Iterable[Span], surfaces: Mapping[str, Sequence[str]], rng: np.random.Generator
) -> str:
    """Return `text` with each span replaced by another surface form of its label.

    Args:
        text: The text that the spans belong to.
        spans: What to replace.
        surfaces: The forms to choose from, by label.
        rng: Chooses among them, each alike.

    Raises:
        InvalidInputError: When a label has no second form to choose.
    """
    pieces, position = [], 0
    for span in disjoint(spans):
        pieces += [text[position : span.start], _other(text[span.start : span.end], span.label, surfaces, rng)]
        position = span.end
    return "".join([*pieces, text[position:]])


def _other(original: str, label: str, surfaces: Mapping[str, Sequence[str]], rng: np.random.Generator) -> str:
    known = {surface.casefold(): surface for surface in surfaces.get(label, ())}
    folded = " ".join(original.split()).casefold()
    others = [surface for key, surface in known.items() if key != folded]
    if not others:
        raise InvalidInputError(
            f"label {label!r} has {len(known)} distinct surface form(s); replacement needs at least 2 of the same label"
        )
    chosen = others[int(rng.integers(len(others)))]
    return chosen[0].upper() + chosen[1:] if original[0].isupper() else chosen
