"""A medical specialty as a vocabulary: what is found, felt, taken, tested and done there."""

from __future__ import annotations

from dataclasses import dataclass

Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Topic:
    """The words that belong together, so that sentences of one topic resemble one another.

    Attributes:
        name: The specialty, as it stands before "ward" or "clinic".
        specialist: Who practises it.
        youngest: Age of the youngest patients.
        oldest: Age of the oldest patients.
        women_only: Whether all patients are women.
        diseases: Each can follow "has" without an article.
        symptoms: Each can follow "reports" without an article.
        medications: Each can follow "takes".
        tests: Singular; each can follow "results of the".
        procedures: Singular; each can be booked.
        measures: Singular; each can precede "was checked".
        aids: Singular; each can be handed out.
    """

    name: str
    specialist: str
    youngest: int
    oldest: int
    women_only: bool = False
    diseases: Words
    symptoms: Words
    medications: Words
    tests: Words
    procedures: Words
    measures: Words
    aids: Words
