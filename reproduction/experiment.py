"""The protocol that every experiment of the paper satisfies."""

from __future__ import annotations

from typing import ClassVar, Protocol

from reproduction.lab import Lab
from reproduction.result import PaperResult


class PaperExperiment(Protocol):
    """A table or figure of the paper.

    Attributes:
        name: By which it is asked for.
        title: What it is about, in a few words.
        where: Where it stands in the paper.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    where: ClassVar[str]

    def run(self, lab: Lab) -> PaperResult:
        """Measure what was not measured before, and return all of it."""
        ...
