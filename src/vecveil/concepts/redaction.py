"""Texts without what is private: the concept, or whatever a service for personal data would take out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.presidio import Presidio
from vecveil.concepts.removal import remove_spans
from vecveil.concepts.rewriting import find_in_chunks, never_empty, substitute
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

PERSONAL_DATA = (
    "CREDIT_CARD",
    "CRYPTO",
    "DATE_TIME",
    "EMAIL_ADDRESS",
    "IBAN_CODE",
    "IP_ADDRESS",
    "LOCATION",
    "MEDICAL_LICENSE",
    "NRP",
    "ORGANIZATION",
    "PERSON",
    "PHONE_NUMBER",
    "URL",
    "US_BANK_NUMBER",
    "US_DRIVER_LICENSE",
    "US_ITIN",
    "US_PASSPORT",
    "US_SSN",
)
"""What Presidio recognises in English texts, near to what the paper's service takes for personal data."""


@dataclass(frozen=True, kw_only=True)
class Remove:
    """Delete the concept. Nothing that the concept finds is left, not even what only the gap brought together."""

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text without the concept, with clean spacing."""
        del rng
        return never_empty(removed(concept, passages, progress), passages)


@dataclass(frozen=True, kw_only=True)
class RemovePii:
    """Mask every personal datum that Presidio finds, in place of the paper's Azure service.

    It takes no concept into account: a disease is no personal datum to it, and stays. The paper says that private
    tokens are replaced with '*', so every word of a find is.

    Attributes:
        entities: Presidio's names of what is masked.
        score: The least confidence, from 0 to 1, at which a find counts.
        model: The spaCy pipeline beneath, by name or folder.
        mask: What stands in the place of each word; where empty, finds are deleted.
    """

    entities: tuple[str, ...] = PERSONAL_DATA
    score: float = 0.5
    model: str = "en_core_web_sm"
    mask: str = "*"

    def __post_init__(self) -> None:
        if not isinstance(self.mask, str):
            raise InvalidInputError(f"mask must be a string, got {self.mask!r}")
        self._personal_data()

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text with its personal data masked, whatever the concept is."""
        del concept, rng
        found = find_in_chunks(self._personal_data(), passages, progress)
        rewritten = [
            substitute(passage.text, spans, self._masked) if self.mask else remove_spans(passage.text, spans)
            for passage, spans in zip(passages, found, strict=True)
        ]
        return never_empty(rewritten, passages)

    def _personal_data(self) -> Presidio:
        return Presidio(entities=self.entities, score=self.score, model=self.model)

    def _masked(self, original: str, label: str) -> str:
        del label
        return " ".join(self.mask for _ in original.split())


def removed(concept: Concept, passages: Sequence[Passage], progress: Progress = silent) -> list[str]:
    """Return each text without the concept, looked through again until nothing is found."""
    texts = [passage.text for passage in passages]
    pending = list(enumerate(passages))
    # Each round deletes something from every text that is still pending, so there is a last one.
    while pending:
        found = find_in_chunks(concept, [passage for _, passage in pending], progress)
        changed = [
            (row, remove_spans(passage.text, spans))
            for (row, passage), spans in zip(pending, found, strict=True)
            if spans
        ]
        for row, text in changed:
            texts[row] = text
        pending = [(row, Passage(text)) for row, text in changed]
    return texts
