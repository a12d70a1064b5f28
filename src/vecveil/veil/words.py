"""Private words of texts, replaced before a model reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

from vecveil.concepts import Concept, Passage
from vecveil.concepts.passage import Span, Spans
from vecveil.concepts.replacement import collect_surfaces
from vecveil.core.digests import text_digest
from vecveil.core.errors import InvalidInputError
from vecveil.substitutions import REMOVED, Draw, Substitution, Value, fold_value, rewrite_text
from vecveil.substitutions.plain import Keep

PASSES = 4
"""Times that a text is searched after words were removed from it; then marks stand in the gaps."""


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
        together. In a text in which that goes on, marks stand in the gaps in the end.

        Args:
            texts: Texts, or passages with annotations.
            draws: The random numbers of each text.
            found: Their private spans, where they are known already; texts are not searched then.
            forced: Outcomes of values for which no number is drawn.
        """
        if isinstance(self.substitution, Keep):
            return RewrittenTexts([text if isinstance(text, str) else text.text for text in texts], [0] * len(texts))
        concept = self._named_concept()
        passages = [Passage(text) if isinstance(text, str) else text for text in texts]
        rewritten, words = [passage.text for passage in passages], [0] * len(texts)
        spans = dict(enumerate(concept.find_all(passages) if found is None else found))
        # An outcome that is itself a private word would be found for ever.
        passes = PASSES if self.substitution.name == "remove" and found is None else 0
        for number in range(passes + 1):
            gap = REMOVED if number and number == passes else ""
            spans = {row: held for row, held in spans.items() if held}
            for row, held in spans.items():
                rewritten[row], count = rewrite_text(
                    self.substitution, rewritten[row], held, draws[row], forced=forced, gap=gap
                )
                words[row] += count
            pending = [row for row in spans if rewritten[row] != REMOVED]
            if not pending or number == passes:
                break
            spans = dict(zip(pending, concept.find_all([Passage(rewritten[row]) for row in pending]), strict=True))
        return RewrittenTexts(rewritten, words)

    def require_readable(self, texts: Sequence[str | Passage]) -> None:
        """Raise where the concept reads annotations, and a text comes without any."""
        if self._named_concept().reads_annotations and any(isinstance(text, str) for text in texts):
            raise InvalidInputError(
                "what is private is annotated, and these texts come without annotations: hand them in as passages, or "
                "name the column of annotations (--annotations, in Python annotations_column=)"
            )

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
                written = span.read_value(passage.text)
                unknown[span.label, fold_value(written)] = written
        known = None if self.substitution.name == "remove" else [found]
        laws = [self.substitution.outcomes(label, written) for (label, _), written in unknown.items()]
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
        draws = [_draw_from_digest(f"{seed} {corpus[row].text}") for row in rows]
        texts = self.rewrite([corpus[row] for row in rows], draws, found=[found[row] for row in rows]).texts
        return dict(zip(rows, texts, strict=True))


def _draw_from_digest(name: str) -> Draw:
    """Return draws that depend on a text alone: what another text comes to must not move when this one is replaced."""

    def draw(label: str, value: str) -> float:
        digest = text_digest("\0".join((name, label, value)))
        return (int.from_bytes(digest[:8], "little") >> 11) / 2**53

    return draw


def fit_substitution(
    substitution: Substitution, concept: Concept, corpus: Sequence[Passage], found: Sequence[Spans]
) -> Substitution:
    """Return a substitution with what it needs to know of a concept and of a corpus in which that was found."""
    return substitution.fit(concept.candidates(), collect_surfaces(corpus, found))


def collect_candidates(concept: Concept, corpus: Sequence[Passage], found: Sequence[Spans]) -> dict[str, list[str]]:
    """Return what can stand in the place of private words, by label: the concept's terms, or else the corpus's."""
    listed = concept.candidates()
    return {label: list(listed.get(label) or forms) for label, forms in collect_surfaces(corpus, found).items()}
