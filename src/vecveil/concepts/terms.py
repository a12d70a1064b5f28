"""Words and phrases as a concept."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import regex
from ahocorasick_rs import AhoCorasick

from vecveil.concepts.concept import Concept
from vecveil.concepts.folding import fold
from vecveil.concepts.passage import Passage, Span, Spans, merge_overlaps
from vecveil.concepts.settings import check_keys, check_names, check_value, to_keywords
from vecveil.core.errors import ArtifactError

# Scripts that put no blank between words, or between a noun and its particle; a word boundary would find nothing.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


@dataclass(frozen=True, kw_only=True)
class Terms(Concept):
    """Whole words and phrases, in any case, found wherever they stand.

    A blank in a phrase matches any white space, a plain apostrophe or hyphen its typographic forms, and an accent
    matches whether it is composed or not. A term that starts or ends with a letter or digit must do so at a word
    boundary; an underscore counts as one, since marking too much is safer than marking too little.

    Attributes:
        terms: What to look for; thousands are fine.
        label: The category that the terms belong to.
        case_sensitive: Whether "AIDS" is something other than "aids".
    """

    kind: ClassVar[str] = "terms"

    terms: tuple[str, ...] = field(repr=False)
    label: str = "TERM"
    case_sensitive: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", check_names(self.terms, "term"))
        # What is written with invisible characters alone is blank too, and would match everywhere.
        check_names([self._fold(term) for term in self.terms], "term")

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return (self.label,)

    def candidates(self) -> dict[str, tuple[str, ...]]:
        """Return the terms."""
        return {self.label: self.terms}

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return the terms of each passage; those that overlap are merged."""
        return [self._find(passage.text) for passage in passages]

    def summary(self) -> Mapping[str, Any]:
        """Return the number of terms, and none of them."""
        return {"kind": self.kind, "terms": len(self.terms)}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], folder: Path) -> Self:
        """Build the concept; `file` names a text file in `folder` with one term a line and # comments."""
        check_keys(cls, settings, extra=("file",))
        given = dict(settings)
        if "file" in given:
            path = folder / check_value(given.pop("file"), str, "file")
            given["terms"] = [*check_value(given.get("terms", []), tuple[str, ...], "terms"), *read_terms(path)]
        return cls(**to_keywords(cls, given))

    @cached_property
    def _automaton(self) -> AhoCorasick:
        return AhoCorasick(sorted({self._fold(term) for term in self.terms}))

    def _fold(self, term: str) -> str:
        return fold(term.strip(), case_sensitive=self.case_sensitive).text.strip()

    def _find(self, text: str) -> Spans:
        folded = fold(text, case_sensitive=self.case_sensitive)
        return merge_overlaps(
            Span(folded.starts[start], folded.ends[end - 1], self.label)
            for _, start, end in self._automaton.find_matches_as_indexes(folded.text, overlapping=True)
            if _is_boundary(folded.text, start) and _is_boundary(folded.text, end)
        )


def _is_boundary(text: str, place: int) -> bool:
    """Whether no word goes on from the character before `place` to the one at it."""
    if place in {0, len(text)}:
        return True
    before, after = text[place - 1], text[place]
    if not (before.isalnum() or _is_mark(before)):
        return True
    return not _is_mark(after) and (not after.isalnum() or bool(_UNSPACED.match(before) or _UNSPACED.match(after)))


def _is_mark(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character).startswith("M")


def read_terms(path: Path) -> list[str]:
    """Return the terms of a text file: one a line, without blank lines and # comments."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"cannot read the terms in {path}: {type(error).__name__}") from None
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
