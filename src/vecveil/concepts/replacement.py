"""Other words in the place of private ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage, Span, Spans
from vecveil.concepts.removal import rewrite_spans
from vecveil.concepts.rewriting import PLACEHOLDER, fill_empty, find_spans, remove_all, take_over_capital
from vecveil.concepts.tokens import FUNCTION_WORDS, words
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent


def collect_surfaces(passages: Sequence[Passage], found: Sequence[Spans]) -> dict[str, tuple[str, ...]]:
    """Return, for each label, the distinct surface forms that the spans of a corpus have.

    A form of a term is the term. Forms that differ only in case count as one, and the one with fewer capitals is kept,
    so that a word that once began a sentence does not carry its capital into the middle of another.
    """
    forms: dict[str, dict[str, str]] = {}
    for passage, spans in zip(passages, found, strict=True):
        for span in spans:
            surface = " ".join(span.read_value(passage.text).split())
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
    held = tuple(spans)
    values = {text[span.start : span.end]: span.read_value(text) for span in held}

    def choose(original: str, label: str) -> str:
        known = {surface.casefold(): surface for surface in surfaces.get(label, ())}
        folded = " ".join(values.get(original, original).split()).casefold()
        others = [surface for key, surface in known.items() if key != folded]
        if not others:
            forms = f"{len(known)} distinct surface form(s)"
            raise InvalidInputError(f"label {label!r} has {forms}; replacement needs at least 2 of the same label")
        return others[int(rng.integers(len(others)))]

    return rewrite_spans(text, held, take_over_capital(choose))


@dataclass(frozen=True, kw_only=True)
class RandomReplacement:
    """Put a random word of the corpus in the place of each private word.

    The paper says "random word replacement from the corpus" and no more. Here every distinct word of the corpus that
    is nowhere private can be drawn, each alike, and a span gets as many words as it had. Random words can happen to
    say something private together; they are then drawn again, and in the end removed, so that nothing is left that
    the concept finds.

    Attributes:
        rounds: How often words are drawn before what is still private is removed.
    """

    rounds: int = 5

    repeatable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.rounds, 1, "rounds")

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text with random words in the place of the concept."""
        texts = [passage.text for passage in passages]
        found = find_spans(concept, passages, progress)
        if not any(found):
            return texts
        harmless = _collect_harmless_words(passages, found)

        def draw(original: str, _: str) -> str:
            return " ".join(harmless[index] for index in rng.integers(len(harmless), size=len(original.split()) or 1))

        pending = {row: spans for row, spans in enumerate(found) if spans}
        for _ in range(self.rounds):
            for row, spans in pending.items():
                texts[row] = rewrite_spans(texts[row], spans, take_over_capital(draw))
            again = find_spans(concept, [Passage(texts[row]) for row in pending], progress)
            pending = {row: spans for row, spans in zip(pending, again, strict=True) if spans}
        for row, text in zip(pending, remove_all(concept, [Passage(texts[row]) for row in pending]), strict=True):
            texts[row] = text
        return fill_empty(texts, passages)


@dataclass(frozen=True, kw_only=True)
class SemanticReplacement:
    """Put another form of the same category in the place of each private one: a disease for a disease.

    The forms are those that the corpus has for that label, each alike. A text still speaks of the concept, but no
    replacement holds one of its own sensitive words: "type 1 diabetes" never becomes "diabetes", nor do two private
    words of a text change places. Where the category has no such form the placeholder stands in.
    """

    repeatable: ClassVar[bool] = False

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text with other forms of the concept in the place of its own."""
        found = find_spans(concept, passages, progress)
        surfaces = collect_surfaces(passages, found)
        forms = {label: [(form, frozenset(words(form))) for form in known] for label, known in surfaces.items()}

        def replace(text: str, spans: Spans) -> str:
            own = {word for span in spans for word in words(text[span.start : span.end])} - FUNCTION_WORDS

            def choose(original: str, label: str) -> str:
                known = forms.get(label, ())
                folded = " ".join(original.split()).casefold()
                shuffled = (known[index] for index in rng.permutation(len(known)))
                others = (form for form, held in shuffled if own.isdisjoint(held) and form.casefold() != folded)
                return next(others, PLACEHOLDER)

            return rewrite_spans(text, spans, take_over_capital(choose))

        return [replace(passage.text, spans) for passage, spans in zip(passages, found, strict=True)]


def _collect_harmless_words(passages: Sequence[Passage], found: Sequence[Spans]) -> tuple[str, ...]:
    """Return the distinct words that stand outside of every span and never in one; else the placeholder."""
    inside: set[str] = set()
    outside: set[str] = set()
    for passage, spans in zip(passages, found, strict=True):
        inside.update(*(words(passage.text[span.start : span.end]) for span in spans))
        outside.update(words(rewrite_spans(passage.text, spans, lambda *_: " ")))
    return tuple(sorted(outside - inside)) or (PLACEHOLDER,)
