"""Private words replaced by any other words of the corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.redaction import removed
from vecveil.concepts.rewriting import PLACEHOLDER, find_in_chunks, never_empty, substitute
from vecveil.concepts.span import Spans
from vecveil.concepts.tokens import words
from vecveil.core.checks import at_least
from vecveil.core.progress import Progress, silent


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

    def __post_init__(self) -> None:
        at_least(self.rounds, 1, "rounds")

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text with random words in the place of the concept."""
        found = find_in_chunks(concept, passages, progress)
        if not any(found):
            return [passage.text for passage in passages]
        draw = _draw_from(_harmless_words(passages, found), rng)
        texts = [passage.text for passage in passages]
        pending = {row: spans for row, spans in enumerate(found) if spans}
        for _ in range(self.rounds):
            for row, spans in pending.items():
                texts[row] = substitute(texts[row], spans, draw)
            again = find_in_chunks(concept, [Passage(texts[row]) for row in pending], progress)
            pending = {row: spans for row, spans in zip(pending, again, strict=True) if spans}
        for row, text in zip(pending, removed(concept, [Passage(texts[row]) for row in pending]), strict=True):
            texts[row] = text
        return never_empty(texts, passages)


def _harmless_words(passages: Sequence[Passage], found: Sequence[Spans]) -> tuple[str, ...]:
    """Return the distinct words that stand outside of every span and never in one; else the placeholder."""
    inside: set[str] = set()
    outside: set[str] = set()
    for passage, spans in zip(passages, found, strict=True):
        inside.update(*(words(passage.text[span.start : span.end]) for span in spans))
        outside.update(words(substitute(passage.text, spans, lambda *_: " ")))
    return tuple(sorted(outside - inside)) or (PLACEHOLDER,)


def _draw_from(harmless: Sequence[str], rng: np.random.Generator) -> Callable[[str, str], str]:
    def draw(original: str, label: str) -> str:
        del label
        return " ".join(harmless[index] for index in rng.integers(len(harmless), size=len(original.split()) or 1))

    return draw
