"""Every word that says something as a concept: for texts of which anything may be private."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.span import Span, Spans, disjoint
from vecveil.concepts.tokens import placed_words
from vecveil.core.checks import at_least, positive
from vecveil.core.digests import text_digest
from vecveil.core.errors import InvalidInputError, MissingExtraError

LABEL = "WORD"
"""The one category that content words belong to."""

# spaCy knows contractions by their two halves; these first halves are no words of their own.
_CONTRACTED = frozenset({"ai", "sha", "wo"})


@dataclass(frozen=True, kw_only=True)
class ContentWords(Concept):
    """Every word of an English text that is no function word: sensitivity without a named concept.

    All content words are private, and an audit tries to read back each of them. But a text without any is a handful of
    function words, nearly the same for every text: what such a contrast shows most of all is the one direction from
    something to nothing, and texts of a word or two have no contrast. So a contrast takes out a share of the distinct
    words of a text, wherever they stand. Which ones, the words and the text decide by a digest: the same on every
    machine, and others in every text.

    Attributes:
        at_least: Letters from which a word counts; one with a digit in it counts at any length.
        share: Share of a text's content words that a contrast takes out, one at the least; 1 for all of them.
    """

    kind: ClassVar[str] = "content-words"

    at_least: int = 3
    share: float = 0.5

    def __post_init__(self) -> None:
        at_least(self.at_least, 1, "at_least")
        if positive(self.share, "share") > 1:
            raise InvalidInputError(f"share must be at most 1, got {self.share!r}")

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return the content words of each passage."""
        return [disjoint(span for _, span in self._placed(passage.text)) for passage in passages]

    def find_contrast(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return, for each passage, the share of its content words whose absence makes the contrast."""
        return [self._drawn(passage.text) for passage in passages]

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return (LABEL,)

    def summary(self) -> Mapping[str, Any]:
        """Return the settings: there is nothing in them to keep secret."""
        return {"kind": self.kind, "at_least": self.at_least, "share": self.share}

    def _placed(self, text: str) -> list[tuple[str, Span]]:
        return [(word, Span(start, end, LABEL)) for word, start, end in placed_words(text) if self._counts(word)]

    def _counts(self, word: str) -> bool:
        if any(map(str.isnumeric, word)):
            return True
        return len(word) >= self.at_least and not is_function_word(word)

    def _drawn(self, text: str) -> Spans:
        placed = self._placed(text)
        words = dict.fromkeys(word for word, _ in placed)
        key = text_digest(text)
        ordered = sorted(words, key=lambda word: hashlib.blake2b(word.encode(), key=key).digest())
        drawn = frozenset(ordered[: math.ceil(self.share * len(ordered))])
        return disjoint(span for word, span in placed if word in drawn)


def is_function_word(word: str) -> bool:
    """Whether `word`, as `vecveil.concepts.words` gives it, is one of those that hold English together: "the", "don't".

    Raises:
        MissingExtraError: When spaCy, whose list it is, is not installed.
    """
    known, endings = _function_words()
    if word in known:
        return True
    return any(word.endswith(ending) and word.removesuffix(ending) in known | _CONTRACTED for ending in endings)


@cache
def _function_words() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return spaCy's stop words, and which of them are endings of contractions; it takes no model."""
    try:
        from spacy.lang.en.stop_words import STOP_WORDS
    except ImportError:
        raise MissingExtraError("spacy", "entities") from None
    return frozenset(STOP_WORDS), tuple(sorted(word for word in STOP_WORDS if "'" in word))
