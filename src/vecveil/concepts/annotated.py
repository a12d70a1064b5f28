"""Annotations that a data set already has, as a concept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage, Spans, merge_overlaps
from vecveil.concepts.settings import check_names


@dataclass(frozen=True, kw_only=True)
class Annotated(Concept):
    """Annotations that came with the texts; a text without annotations has nothing of the concept.

    Attributes:
        labels: The labels that are private; all of them where empty.
    """

    kind: ClassVar[str] = "annotated"

    labels: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", check_names(self.labels, "label", allow_none=True))

    @property
    def reads_annotations(self) -> bool:
        """Always."""
        return True

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return the private annotations of each passage."""
        return [
            merge_overlaps(span for span in passage.annotations if not self.labels or span.label in self.labels)
            for passage in passages
        ]

    def summary(self) -> Mapping[str, Any]:
        """Return the number of labels; 0 stands for all of them."""
        return {"kind": self.kind, "labels": len(self.labels)}
