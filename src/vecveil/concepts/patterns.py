"""Regular expressions as a concept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import regex

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.settings import checked_keys, checked_names, checked_value
from vecveil.concepts.span import Span, Spans, disjoint
from vecveil.core.checks import positive
from vecveil.core.errors import ConceptTimeoutError, InvalidInputError


@dataclass(frozen=True, kw_only=True)
class Patterns(Concept):
    """Regular expressions, each under a label, with a limit on the time that one may take for one text.

    Attributes:
        patterns: Pairs of label and regular expression, in the syntax of the `regex` package.
        timeout: Seconds that one pattern may spend on one text.
    """

    kind: ClassVar[str] = "patterns"

    patterns: tuple[tuple[str, str], ...] = field(repr=False)
    timeout: float = 1.0

    def __post_init__(self) -> None:
        positive(self.timeout, "timeout")
        checked_names([label for label, _ in self.patterns], "label of a pattern")
        labels = list(dict.fromkeys(label for label, _ in self.patterns))
        # Patterns of one label stand together, as they do in a TOML table, so that equal concepts compare equal.
        ordered = tuple(sorted(self.patterns, key=lambda pair: labels.index(pair[0])))
        object.__setattr__(self, "patterns", ordered)
        for label, pattern in ordered:
            if _compiled(label, pattern).search("", timeout=self.timeout):
                raise InvalidInputError(f"pattern {pattern!r} of label {label!r} matches the empty string")

    @classmethod
    def of(cls, patterns: Mapping[str, str | Sequence[str]], *, timeout: float = 1.0) -> Self:
        """Return the patterns given as a mapping from label to one regular expression or several."""
        pairs: list[tuple[str, Any]] = [
            (label, pattern)
            for label, given in patterns.items()
            for pattern in (given if isinstance(given, list | tuple) else [given])
        ]
        return cls(patterns=tuple(pairs), timeout=timeout)

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return what the patterns match in each passage."""
        return [
            disjoint(span for label, compiled in self._compiled for span in self._find(passage.text, label, compiled))
            for passage in passages
        ]

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return tuple(dict.fromkeys(label for label, _ in self.patterns))

    def settings(self) -> dict[str, Any]:
        """Return the TOML table of the patterns; several under one label become a list."""
        grouped: dict[str, list[str]] = {}
        for label, pattern in self.patterns:
            grouped.setdefault(label, []).append(pattern)
        table: dict[str, Any] = {label: found[0] if len(found) == 1 else found for label, found in grouped.items()}
        return {"kind": self.kind, "patterns": table, "timeout": self.timeout}

    def summary(self) -> Mapping[str, Any]:
        """Return the number of patterns, and none of them."""
        return {"kind": self.kind, "patterns": len(self.patterns)}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], folder: Path) -> Self:
        """Build the concept from a table with `patterns`, itself a table of labels, and an optional `timeout`."""
        del folder
        checked_keys(cls, settings)
        if "patterns" not in settings:
            raise InvalidInputError("setting 'patterns' is missing")
        given = checked_value(settings["patterns"], Mapping[str, Any], "patterns")
        patterns = {
            label: checked_value([value] if isinstance(value, str) else value, tuple[str, ...], f"patterns.{label}")
            for label, value in given.items()
        }
        return cls.of(patterns, timeout=checked_value(settings.get("timeout", 1.0), float, "timeout"))

    @cached_property
    def _compiled(self) -> tuple[tuple[str, regex.Pattern[str]], ...]:
        return tuple((label, _compiled(label, pattern)) for label, pattern in self.patterns)

    def _find(self, text: str, label: str, compiled: regex.Pattern[str]) -> Iterator[Span]:
        try:
            # The limit is for the whole scan: a hostile pattern cannot use it up anew at every position.
            for match in compiled.finditer(text, timeout=self.timeout):
                if match.end() > match.start():
                    yield Span(match.start(), match.end(), label)
        except TimeoutError:
            raise ConceptTimeoutError(
                f"pattern {compiled.pattern!r} of label {label!r} took longer than {self.timeout:g} s on one text; "
                "simplify it or raise its timeout"
            ) from None


def _compiled(label: str, pattern: str) -> regex.Pattern[str]:
    if not isinstance(pattern, str):
        raise InvalidInputError(f"a pattern of label {label!r} must be a string, got {type(pattern).__name__}")
    try:
        return regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        raise InvalidInputError(f"pattern {pattern!r} of label {label!r} is not valid: {error}") from None
