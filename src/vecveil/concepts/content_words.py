"""Content words as a concept, where anything may be private."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage, Span, Spans, merge_overlaps
from vecveil.concepts.tokens import locate_words
from vecveil.core.checks import at_least, positive
from vecveil.core.digests import text_digest
from vecveil.core.errors import InvalidInputError, needs_extra

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
    words of a text, wherever they stand. A digest of the word, keyed by the text, decides which: the same on every
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

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return (LABEL,)

    @property
    def everywhere(self) -> bool:
        """Every text holds some of them."""
        return True

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return the content words of each passage."""
        return [merge_overlaps(span for _, span in self._locate(passage.text)) for passage in passages]

    def search(self, passages: Sequence[Passage]) -> tuple[list[Spans], list[Spans]]:
        """Return the content words of each passage, and the share of them that a contrast takes out."""
        found, taken_out = [], []
        for passage in passages:
            located = self._locate(passage.text)
            chosen = self._choose({word for word, _ in located}, key=text_digest(passage.text))
            found.append(merge_overlaps(span for _, span in located))
            taken_out.append(merge_overlaps(span for word, span in located if word in chosen))
        return found, taken_out

    def summary(self) -> Mapping[str, Any]:
        """Return the settings: there is nothing in them to keep secret."""
        return {"kind": self.kind, "at_least": self.at_least, "share": self.share}

    def _locate(self, text: str) -> list[tuple[str, Span]]:
        return [(word, Span(start, end, LABEL)) for word, start, end in locate_words(text) if self._counts(word)]

    def _counts(self, word: str) -> bool:
        return any(map(str.isnumeric, word)) or (len(word) >= self.at_least and not is_function_word(word))

    def _choose(self, words: set[str], key: bytes) -> set[str]:
        ordered = sorted(words, key=lambda word: hashlib.blake2b(word.encode(), key=key).digest())
        return set(ordered[: math.ceil(self.share * len(ordered))])


def is_function_word(word: str) -> bool:
    """Whether `word`, as `vecveil.concepts.words` gives it, is one of those that hold English together: "the", "don't".

    Raises:
        MissingExtraError: When spaCy, whose list it is, is not installed.
    """
    known, endings = _load_function_words()
    if word in known:
        return True
    return any(word.endswith(ending) and word.removesuffix(ending) in known | _CONTRACTED for ending in endings)


@cache
def _load_function_words() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return spaCy's stop words, and which of them are endings of contractions; it takes no model."""
    with needs_extra("spacy", "entities"):
        from spacy.lang.en.stop_words import STOP_WORDS
    return frozenset(STOP_WORDS), tuple(sorted(word for word in STOP_WORDS if "'" in word))
