"""Defenses that rewrite texts before they are embedded."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage, Spans, split_chunks
from vecveil.concepts.presidio import Presidio
from vecveil.concepts.removal import remove_spans, rewrite_spans
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.core.registry import Registry, build

PLACEHOLDER = "[removed]"
"""Stands where nothing else is left to stand: an embedder needs a text."""

PERSONAL_DATA = (
    "CREDIT_CARD", "CRYPTO", "DATE_TIME", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "LOCATION", "MEDICAL_LICENSE",
    "NRP", "ORGANIZATION", "PERSON", "PHONE_NUMBER", "URL", "US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_ITIN",
    "US_PASSPORT", "US_SSN",
)  # fmt: skip
"""What Presidio recognizes in English texts, near to what the paper's service takes for personal data."""


class Rewriter(Protocol):
    """A way to take a concept out of texts. A dataclass: its fields are what users may set."""

    repeatable: ClassVar[bool]
    """Whether a text is always rewritten in the same way, whatever the other texts and the random choices are."""

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text rewritten, in order; one in which nothing was found stays as it is.

        The same texts, concept and generator state give the same result. Words are borrowed from the texts given, so
        give all of a corpus at once. A text of which no letter or digit is left becomes `PLACEHOLDER`.

        Args:
            passages: The corpus.
            concept: What is private.
            rng: Makes the random choices, if there are any.
            progress: Called after each chunk of texts.
        """


REWRITERS: Registry[type[Rewriter]] = Registry(
    kind="rewriter",
    builtin={
        "random-replacement": "vecveil.concepts.replacement:RandomReplacement",
        "remove": "vecveil.concepts.rewriting:Redact",
        "remove-pii": "vecveil.concepts.rewriting:RemovePii",
        "semantic-replacement": "vecveil.concepts.replacement:SemanticReplacement",
    },
    group="vecveil.rewriters",
)


def build_rewriter(name: str, settings: Mapping[str, Any] | None = None) -> Rewriter:
    """Return the rewriter registered as `name`, with `settings` over its defaults."""
    return build(REWRITERS, name, settings or {})


@dataclass(frozen=True, kw_only=True)
class Redact:
    """Delete the concept. Nothing that the concept finds is left, not even what only the gap brought together."""

    repeatable: ClassVar[bool] = True

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text without the concept, with clean spacing."""
        return fill_empty(remove_all(concept, passages, progress), passages)


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

    repeatable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.mask, str):
            raise InvalidInputError(f"mask must be a string, got {self.mask!r}")
        self._to_concept()

    def rewrite(
        self, passages: Sequence[Passage], concept: Concept, rng: np.random.Generator, *, progress: Progress = silent
    ) -> list[str]:
        """Return each text with its personal data masked, whatever the concept is."""
        rewritten = []
        for passage, spans in zip(passages, find_spans(self._to_concept(), passages, progress), strict=True):
            masked = rewrite_spans(
                passage.text, spans, lambda original, _: " ".join([self.mask] * len(original.split())).strip()
            )
            rewritten.append(masked)
        return fill_empty(rewritten, passages)

    def _to_concept(self) -> Presidio:
        return Presidio(entities=self.entities, score=self.score, model=self.model)


def find_spans(concept: Concept, passages: Sequence[Passage], progress: Progress) -> list[Spans]:
    """Return the spans of each passage, chunk by chunk."""
    chunks = split_chunks(passages, label="rewriting", progress=progress)
    return [spans for chunk in chunks for spans in concept.find_all(chunk)]


def remove_all(concept: Concept, passages: Sequence[Passage], progress: Progress = silent) -> list[str]:
    """Return each text without the concept, searched again until nothing is found."""
    texts = [passage.text for passage in passages]
    pending = dict(enumerate(passages))
    # Each round deletes something from every text that is still pending, so there is a last one.
    while pending:
        found = zip(pending, find_spans(concept, list(pending.values()), progress), strict=True)
        texts_left = {row: remove_spans(texts[row], spans) for row, spans in found if spans}
        for row, text in texts_left.items():
            texts[row] = text
        pending = {row: Passage(text) for row, text in texts_left.items()}
    return texts


def take_over_capital(choose: Callable[[str, str], str]) -> Callable[[str, str], str]:
    """Return `choose` with a capital at the start of what it chooses where the original had one."""

    def choose_alike(original: str, label: str) -> str:
        other = choose(original, label)
        return other[:1].upper() + other[1:] if original[0].isupper() else other

    return choose_alike


def fill_empty(rewritten: Iterable[str], passages: Iterable[Passage]) -> list[str]:
    """Return the rewritten texts, with the placeholder for each that was changed until no letter or digit was left."""
    return [
        text if text == passage.text or any(map(str.isalnum, text)) else PLACEHOLDER
        for text, passage in zip(rewritten, passages, strict=True)
    ]
