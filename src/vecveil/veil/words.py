"""Private words of texts, replaced before a model reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from vecveil.concepts import Concept, Passage
from vecveil.concepts.passage import Span, Spans
from vecveil.concepts.replacement import collect_surfaces
from vecveil.core.errors import InvalidInputError
from vecveil.substitutions import Draw, Substitution, Value, fold_value, rewrite_text


class RewrittenTexts(NamedTuple):
    """Texts as a model may read them, and how many different private values were replaced in each."""

    texts: list[str]
    words: list[int]


@dataclass(frozen=True, kw_only=True, eq=False)
class WordProtection:
    """A substitution at work on what a concept finds.

    Attributes:
        substitution: What becomes of private words.
        concept: Finds them; None where whoever protects has not named it.
    """

    substitution: Substitution
    concept: Concept | None

    def rewrite(
        self,
        texts: Sequence[str | Passage],
        draws: Sequence[Draw],
        *,
        found: Sequence[Spans] | None = None,
        forced: Mapping[Value, str] | None = None,
    ) -> RewrittenTexts:
        """Return texts with their private words replaced.

        Where words are removed, texts are searched again until nothing is found: closing a gap can bring two words
        together.

        Args:
            texts: Texts, or passages with annotations.
            draws: The random numbers of each text.
            found: Their private spans, where they are known already; texts are not searched then.
            forced: Outcomes of values for which no number is drawn.
        """
        concept = self._named_concept()
        pending = {row: Passage(text) if isinstance(text, str) else text for row, text in enumerate(texts)}
        rewritten, words = [passage.text for passage in pending.values()], [0] * len(texts)
        spans = concept.find_all(list(pending.values())) if found is None else found
        while pending:
            again = {}
            for row, held in zip(pending, spans, strict=True):
                if held:
                    rewritten[row], count = rewrite_text(
                        self.substitution, rewritten[row], held, draws[row], forced=forced
                    )
                    words[row] += count
                    again[row] = Passage(rewritten[row])
            # An outcome that is itself a private word would be found for ever.
            pending = again if self.substitution.name == "remove" and found is None else {}
            spans = concept.find_all(list(pending.values()))
        return RewrittenTexts(rewritten, words)

    def outcomes(self, passage: Passage, found: Spans, places: Sequence[Span], draw: Draw) -> dict[str, float]:
        """Return the texts that the model may read where a passage stands, with their probabilities.

        Args:
            passage: The text.
            found: Its private spans.
            places: Where the words stand that are taken as unknown: they fall by their law, all others as drawn.
            draw: Random numbers of the other values.
        """
        unknown: dict[Value, str] = {}
        for span in found:
            if any(span.start < place.end and place.start < span.end for place in places):
                original = passage.text[span.start : span.end]
                unknown[span.label, fold_value(original)] = original
        known = None if self.substitution.name == "remove" else [found]
        laws = [self.substitution.outcomes(label, original) for (label, _), original in unknown.items()]
        texts: dict[str, float] = {}
        for chosen in product(*(law.items() for law in laws)):
            forced = dict(zip(unknown, (outcome for outcome, _ in chosen), strict=True))
            text = self.rewrite([passage], [draw], found=known, forced=forced).texts[0]
            texts[text] = texts.get(text, 0.0) + prod(probability for _, probability in chosen)
        return texts

    def _named_concept(self) -> Concept:
        if self.concept is None:
            raise InvalidInputError(
                f"this veil replaces private words ({self.substitution.name}) and does not tell which: name the "
                "concept (--concept FILE, in Python concept=)"
            )
        return self.concept

    def rewrite_sample(self, corpus: Sequence[Passage], found: Sequence[Spans], *, seed: int) -> dict[int, str]:
        """Return, by row, the texts that hold private words as a release might rewrite them, to learn from."""
        rows = [row for row, spans in enumerate(found) if spans]
        rng = np.random.default_rng(seed)
        draws: list[Draw] = [lambda *_: float(rng.random())] * len(rows)
        texts = self.rewrite([corpus[row] for row in rows], draws, found=[found[row] for row in rows]).texts
        return dict(zip(rows, texts, strict=True))


def collect_candidates(concept: Concept, corpus: Sequence[Passage], found: Sequence[Spans]) -> dict[str, list[str]]:
    """Return what can stand in the place of private words, by label: the concept's terms, or else the corpus's."""
    listed = concept.candidates()
    return {label: list(listed.get(label) or forms) for label, forms in collect_surfaces(corpus, found).items()}
