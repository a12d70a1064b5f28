"""Regular expressions as a concept."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import regex

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage, Span, Spans, merge_overlaps
from vecveil.concepts.settings import check_names
from vecveil.core.checks import positive
from vecveil.core.errors import ConceptTimeoutError, InvalidInputError

MOST_TIMES, MOST_SHOWN = 10_000, 80
"""How often a pattern may repeat something, and how many of its characters an error shows."""


@dataclass(frozen=True, kw_only=True)
class Patterns(Concept):
    """Regular expressions, each under a label, with a limit on the time that one may take for one text.

    Attributes:
        patterns: Label to one regular expression or several, in the syntax of the `regex` package.
        timeout: Seconds that one pattern may spend on one text.
    """

    kind: ClassVar[str] = "patterns"

    patterns: Mapping[str, str | Sequence[str]] = field(repr=False)
    timeout: float = 1.0

    def __post_init__(self) -> None:
        positive(self.timeout, "timeout")
        # One pattern and a list of one are equal.
        lists = {
            label: tuple(given) if isinstance(given, list | tuple) else (given,)
            for label, given in self.patterns.items()
        }
        object.__setattr__(self, "patterns", lists)
        check_names([label for label, _ in self._compiled], "label of a pattern")
        for label, compiled in self._compiled:
            if compiled.search("", timeout=self.timeout):
                raise InvalidInputError(f"pattern {compiled.pattern!r} of label {label!r} matches the empty string")

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return tuple(self.patterns)

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return what the patterns match in each passage."""
        return [merge_overlaps(self._find(passage.text)) for passage in passages]

    def summary(self) -> Mapping[str, Any]:
        """Return the number of patterns, and none of them."""
        return {"kind": self.kind, "patterns": len(self._compiled)}

    @cached_property
    def _compiled(self) -> tuple[tuple[str, regex.Pattern[str]], ...]:
        return tuple((label, _compile(label, one)) for label, several in self.patterns.items() for one in several)

    def _find(self, text: str) -> Iterator[Span]:
        for label, compiled in self._compiled:
            try:
                # The limit is for the whole scan: a hostile pattern cannot use it up anew at every position.
                for match in compiled.finditer(text, timeout=self.timeout):
                    if match.end() > match.start():
                        yield Span(match.start(), match.end(), label)
            except TimeoutError:
                raise ConceptTimeoutError(
                    f"pattern {_shorten(compiled.pattern)} of label {label!r} took longer than {self.timeout:g} s on "
                    "one text; simplify it or raise its timeout"
                ) from None


def _compile(label: str, pattern: str) -> regex.Pattern[str]:
    if not isinstance(pattern, str):
        raise InvalidInputError(f"a pattern of label {label!r} must be a string, got {type(pattern).__name__}")
    if any(int(times) > MOST_TIMES for times in re.findall(r"(?<=[{,])\d+(?=[,}])", pattern)):
        # The library would make room for as many first.
        raise InvalidInputError(
            f"pattern {_shorten(pattern)} of label {label!r} repeats something more than {MOST_TIMES:,} times"
        )
    try:
        return regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError, MemoryError) as error:
        reason = _shorten(str(error) or "it takes too much memory", quote=False)
        raise InvalidInputError(f"pattern {_shorten(pattern)} of label {label!r} is not valid: {reason}") from None


def _shorten(text: str, *, quote: bool = True) -> str:
    shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return repr(shown) if quote else shown
