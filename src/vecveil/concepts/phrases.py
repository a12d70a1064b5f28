"""Phrases found in texts, whichever way their words are written."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

import regex

from vecveil.concepts.spellings import MOST_WRONG, Spellings, allow_wrong_letters

MOST_WORDS = 8
"""Words of a phrase that may be inflected, spaced or misspelled; longer ones are found as they are written alone."""

SHORTEST_JOINED = 5
"""Letters that a phrase has at least to be found in one word: "us" is not "U.S"."""

SHORTEST_PIECE = 4
"""Letters that both parts of a word have at least to be found with a blank between them: "I ran" is not "Iran"."""

LETTER = r"[\p{L}\p{M}\p{N}]"
_WORD = rf"({LETTER}+(?:'{LETTER}+)*)"
_PLAIN = regex.compile(_WORD)
# Where inflections count, a possessive ending is no part of a word.
_WITH_POSSESSIVE = regex.compile(rf"({LETTER}+(?:'(?!s(?!{LETTER})){LETTER}+)*)(?:'s(?!{LETTER}))?")
_SPACERS = str.maketrans("", "", " -_'")
_REMEMBERED = 1 << 16


class _Word(NamedTuple):
    text: str
    start: int
    end: int
    stop: int  # after a possessive ending


_Gaps: TypeAlias = tuple[tuple[int, str], ...]
"""What stands between words, with the number of letters before it."""


class _Phrase(NamedTuple):
    words: tuple[str, ...]
    gaps: _Gaps


class _Way(NamedTuple):
    """Words of a text, read as the beginning of a phrase: as they stand in it, and what stands between them.

    `letters` are those in the text, with `wrong` ones among them.
    """

    key: str
    next: int
    letters: int
    wrong: int
    gaps: _Gaps


class Match(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text, and the number of the phrase that stands there."""

    start: int
    end: int
    number: int


@dataclass(frozen=True, kw_only=True, eq=False)
class PhraseFinder:
    """Finds phrases word by word.

    Attributes:
        phrases: Folded phrases; those that do not begin and end with a letter or digit are left out.
        names: Words of them that are names.
        inflections: Whether plurals and other inflected forms count.
        spacing: Whether blanks, hyphens and nothing are the same.
        misspellings: Whether a wrong letter in a long phrase counts.
    """

    phrases: Sequence[str]
    names: Collection[str] = ()
    inflections: bool
    spacing: bool
    misspellings: bool

    def __post_init__(self) -> None:
        # So that too many terms are an error when they are named, not when a text comes.
        _ = self.misspellings and self._spellings

    def find(self, text: str) -> Iterator[Match]:
        """Yield the phrases of a folded text; of several that one place may stand for, the likeliest."""
        words = self._split(text)
        meanings = [self._read(word.text) for word in words]
        for first, word in enumerate(words):
            # Few words stand for one of a phrase, or begin as one does.
            if not meanings[first] and not (self.spacing and word.text[:SHORTEST_PIECE] in self._heads):
                continue
            best: dict[int, tuple[int, int]] = {}
            for way in self._follow(text, words, meanings, first):
                number = self._numbers.get(way.key)
                if number is not None and self._fits(way, number):
                    end = words[way.next - 1].end
                    best[end] = min(best.get(end, (way.wrong, number)), (way.wrong, number))
            for end, (_, number) in best.items():
                yield Match(word.start, end, number)

    def _follow(
        self, text: str, words: Sequence[_Word], meanings: Sequence[list[tuple[str, int]]], first: int
    ) -> Iterator[_Way]:
        """Yield all ways to read the words from `first` on as words of phrases."""
        ways = [_Way("", first, 0, 0, ())]
        while ways:
            way = ways.pop()
            gaps = way.gaps
            if way.key:
                yield way
                if way.next == len(words) or way.key not in self._beginnings:
                    continue
                gaps += ((len(way.key), text[words[way.next - 1].stop : words[way.next].start]),)
            joint = "" if self.spacing or not way.key else " "
            read = [(word, wrong, way.next + 1, gaps) for word, wrong in meanings[way.next]]
            if self.spacing and way.next + 1 < len(words):
                read += self._join(text, words, way, gaps)
            for word, wrong, following, stand in read:
                key = way.key + joint + word
                if way.wrong + wrong <= MOST_WRONG and (key in self._beginnings or key in self._numbers):
                    letters = way.letters + sum(len(one.text) for one in words[way.next : following])
                    ways.append(_Way(key, following, letters, way.wrong + wrong, stand))

    def _join(self, text: str, words: Sequence[_Word], way: _Way, gaps: _Gaps) -> Iterator[tuple[str, int, int, _Gaps]]:
        """Yield the words of phrases that the next two words of a text are together."""
        one, other = words[way.next], words[way.next + 1]
        gap = text[one.stop : other.start]
        long = len(one.text) + len(other.text) >= SHORTEST_JOINED
        together = gap in {"-", "- "} and long
        apart = gap == " " and len(one.text) >= SHORTEST_PIECE <= len(other.text)
        if (together or apart) and one.text[:SHORTEST_PIECE] in self._heads:
            for word in self._spellings.find(one.text + other.text):
                yield word, 0, way.next + 2, (*gaps, (len(way.key) + len(one.text), gap))

    def _fits(self, way: _Way, number: int) -> bool:
        """Whether the words of a text may stand as they do where a phrase is meant."""
        own = self._split_phrase(number).gaps
        if way.wrong > allow_wrong_letters(min(way.letters, len(way.key))):
            return False
        if not self.spacing:
            return [gap for _, gap in way.gaps] == [gap for _, gap in own]
        if len(way.gaps) < len(own) and len(way.key) < SHORTEST_JOINED and way.key.isalpha():
            return False
        marks = {place: gap.translate(_SPACERS) for place, gap in own}
        return all(gap.translate(_SPACERS) in {"", marks.get(place, "")} for place, gap in way.gaps)

    def _read(self, word: str) -> list[tuple[str, int]]:
        """Return the words of phrases that a word of a text may stand for, with the number of wrong letters."""
        if word not in self._known:
            if len(self._known) == _REMEMBERED:
                self._known.clear()
            same = [(found, 0) for found in self._spellings.find(word)]
            self._known[word] = same or self._spellings.find_near(word)
        return self._known[word]

    def _split(self, text: str) -> list[_Word]:
        pattern = _WITH_POSSESSIVE if self.inflections else _PLAIN
        return [_Word(match[1], match.start(), match.end(1), match.end()) for match in pattern.finditer(text)]

    def _split_phrase(self, number: int) -> _Phrase:
        phrase = self.phrases[number]
        words = self._split(phrase)
        if not words or len(words) > MOST_WORDS or words[0].start or words[-1].stop < len(phrase):
            return _Phrase((), ())
        places = accumulate(len(word.text) for word in words)
        gaps = tuple(
            (place, phrase[one.stop : other.start])
            for place, (one, other) in zip(places, pairwise(words), strict=False)
        )
        return _Phrase(tuple(word.text for word in words), gaps)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of each phrase by its words, written as one."""
        numbers: dict[str, int] = {}
        for number in range(len(self.phrases)):
            words = self._split_phrase(number).words
            if words:
                numbers.setdefault(("" if self.spacing else " ").join(words), number)
        return numbers

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """Words that more words follow in a phrase, written as one."""
        joint = "" if self.spacing else " "
        return frozenset(
            joint.join(words[:count])
            for number in self._numbers.values()
            for words in (self._split_phrase(number).words,)
            for count in range(1, len(words))
        )

    @cached_property
    def _spellings(self) -> Spellings:
        words: set[str] = set()
        joined: set[str] = set()
        for key, number in self._numbers.items():
            split = self._split_phrase(number).words
            words.update(split)
            if self.spacing and len(split) > 1:
                joined.update((key, *(map("".join, pairwise(split)))))
        return Spellings(
            words,
            joined=joined,
            names=self.names,
            inflections=self.inflections,
            misspellings=self.misspellings,
        )

    @cached_property
    def _heads(self) -> frozenset[str]:
        return frozenset(word[:length] for word in self._spellings.words for length in range(1, SHORTEST_PIECE + 1))

    @cached_property
    def _known(self) -> dict[str, list[tuple[str, int]]]:
        return {}


def split_words(text: str) -> list[str]:
    """Return the words of a text without possessive endings."""
    return [match[1] for match in _WITH_POSSESSIVE.finditer(text)]
