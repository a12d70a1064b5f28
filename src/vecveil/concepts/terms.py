"""Words and phrases as a concept."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import regex
from ahocorasick_rs import AhoCorasick

from vecveil.concepts.concept import Concept
from vecveil.concepts.folding import Folded, fold
from vecveil.concepts.passage import Passage, Span, Spans, merge_overlaps
from vecveil.concepts.phrases import PhraseFinder, split_words
from vecveil.concepts.settings import check_keys, check_names, check_value, to_keywords
from vecveil.core.errors import ArtifactError, InvalidInputError

# Scripts that put no blank between words, or between a noun and its particle; a word boundary would find nothing.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
# May stand inside a word or between two.
_ZERO_WIDTH_SPACE, _JOINER = "\u200b", "\u200d"

LONGEST_TERM = 10_000


@dataclass(frozen=True, kw_only=True)
class Terms(Concept):
    """Whole words and phrases, in any case, found wherever they stand and however people write them.

    A blank in a phrase matches any white space, and a plain apostrophe or hyphen its typographic forms. A term that
    starts or ends with a letter or digit must do so at a word boundary; an underscore counts as one, since marking too
    much is safer than marking too little. What a span stands for is its term, however it is written.

    Attributes:
        terms: What to look for; thousands are fine.
        label: The category that the terms belong to.
        case_sensitive: Whether "AIDS" is something other than "aids".
        inflections: Whether plurals, possessives and verb endings of a term are the term: "strokes", "Crohn disease".
        spacing: Whether blanks, hyphens and nothing are the same within a term: "heart-attack", "heartattack".
        letters: Whether accents don't matter, nor letters of other widths and scripts that look alike: "cafe".
        misspellings: Whether a letter may be wrong in seven or more, and two in thirteen; never the first of a word.
    """

    kind: ClassVar[str] = "terms"

    terms: tuple[str, ...] = field(repr=False)
    label: str = "TERM"
    case_sensitive: bool = False
    inflections: bool = True
    spacing: bool = True
    letters: bool = True
    misspellings: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", check_names(self.terms, "term"))
        longest = max(map(len, self.terms))
        if longest > LONGEST_TERM:
            # To look for one takes minutes and gigabytes from some million characters on.
            raise InvalidInputError(f"a term must not have more than {LONGEST_TERM:,} characters, got {longest:,}")
        # What is written with invisible characters alone is blank too, and would match everywhere.
        check_names([self._fold(term) for term in self.terms], "term")
        # Too many terms are an error where they are named, not where a text comes.
        _ = self._phrases

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return (self.label,)

    def candidates(self) -> dict[str, tuple[str, ...]]:
        """Return the terms, without those that are forms of others."""
        return {self.label: self._values}

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
    def _values(self) -> tuple[str, ...]:
        whole = {term: term for term in self.terms}
        for term in self.terms:
            found = self._find(term)
            if len(found) == 1 and found[0].end - found[0].start == len(term):
                whole[term] = found[0].term
        return tuple(dict.fromkeys(whole.values()))

    @cached_property
    def _by_form(self) -> dict[str, str]:
        """The first of the terms that are the same when folded."""
        forms: dict[str, str] = {}
        for term in self.terms:
            forms.setdefault(self._fold(term), term)
        return forms

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        return tuple(self._by_form.values())

    @cached_property
    def _automaton(self) -> AhoCorasick:
        return AhoCorasick(list(self._by_form))

    @cached_property
    def _phrases(self) -> PhraseFinder | None:
        if not (self.inflections or self.spacing or self.misspellings):
            return None
        # A word that is never written small is a name.
        written = [fold(term, case_sensitive=True, letters=self.letters).text for term in self.terms]
        words = {word for term in written for word in split_words(term)}
        names = {word if self.case_sensitive else word.lower() for word in words if word != word.lower()}
        return PhraseFinder(
            phrases=list(self._by_form),
            names=names if self.case_sensitive else names - words,
            inflections=self.inflections,
            spacing=self.spacing,
            misspellings=self.misspellings,
        )

    def _fold(self, term: str) -> str:
        plain = term.replace(_ZERO_WIDTH_SPACE, _JOINER) if self.spacing else term
        return fold(plain.strip(), case_sensitive=self.case_sensitive, letters=self.letters).text.strip()

    def _find(self, text: str) -> Spans:
        views = [text]
        if self.spacing and _ZERO_WIDTH_SPACE in text:
            views = [text.replace(_ZERO_WIDTH_SPACE, other) for other in ("-", _JOINER)]
        return merge_overlaps(span for view in views for span in self._search(view))

    def _search(self, text: str) -> Iterator[Span]:
        folded = fold(text, case_sensitive=self.case_sensitive, letters=self.letters)
        terms = self._listed
        # First, since of terms that are forms of one another, it names the same one each time.
        for start, end, number in self._phrases.find(folded.text) if self._phrases else ():
            yield Span(folded.starts[start], folded.ends[end - 1], self.label, terms[number])
        for number, start, end in self._automaton.find_matches_as_indexes(folded.text, overlapping=True):
            if _is_boundary(folded.text, start) and (last := self._find_end(text, folded, start, end)):
                yield Span(folded.starts[start], folded.ends[last - 1], self.label, terms[number])

    def _find_end(self, text: str, folded: Folded, start: int, end: int) -> int:
        """Return the end of the word that a match ends with; 0 where it goes on. A plural of capitals ends in "s"."""
        if _is_boundary(folded.text, end):
            return end
        written = text[folded.starts[start] : folded.ends[end - 1]]
        plural = self.inflections and len(written) > 1 and written.isupper() and text[folded.starts[end]] == "s"
        return end + 1 if plural and _is_boundary(folded.text, end + 1) else 0


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
    if path.exists() and not path.is_file():
        # A device or a pipe may have no end.
        raise ArtifactError(f"cannot read the terms in {path}: it is no regular file")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"cannot read the terms in {path}: {type(error).__name__}") from None
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
