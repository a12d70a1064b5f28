"""Private words replaced by others of their category."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.replacement import collect_surfaces
from vecveil.concepts.rewriting import PLACEHOLDER, find_in_chunks, substitute
from vecveil.concepts.tokens import FUNCTION_WORDS, words
from vecveil.core.progress import Progress, silent

_Forms = Mapping[str, Sequence[tuple[str, frozenset[str]]]]


@dataclass(frozen=True, kw_only=True)
class SemanticReplacement:
    """Put another form of the same category in the place of each private one: a disease for a disease.

    The forms are those that the corpus has for that label, each alike. A text still speaks of the concept, but no
    replacement holds one of its own sensitive words: "type 1 diabetes" never becomes "diabetes", nor do two private
    words of a text change places. Where the category has no such form the placeholder stands in.
    """

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text with other forms of the concept in the place of its own."""
        found = find_in_chunks(concept, passages, progress)
        surfaces = collect_surfaces(passages, found)
        forms = {label: [(form, frozenset(words(form))) for form in known] for label, known in surfaces.items()}
        rewritten = []
        for passage, spans in zip(passages, found, strict=True):
            inside = [word for span in spans for word in words(passage.text[span.start : span.end])]
            own = frozenset(inside) - FUNCTION_WORDS
            rewritten.append(substitute(passage.text, spans, _choose_from(forms, own, rng)))
        return rewritten


def _choose_from(forms: _Forms, own: frozenset[str], rng: np.random.Generator) -> Callable[[str, str], str]:
    def choose(original: str, label: str) -> str:
        known = forms.get(label, ())
        folded = " ".join(original.split()).casefold()
        others = (
            known[index][0]
            for index in rng.permutation(len(known))
            if own.isdisjoint(known[index][1]) and known[index][0].casefold() != folded
        )
        return next(others, PLACEHOLDER)

    return choose
