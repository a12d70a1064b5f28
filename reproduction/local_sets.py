"""Data sets that need access, read from a file of the user's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduction.datasets import DATASETS, Dataset, Marked
from vecveil.audit.task_files import TaskTable
from vecveil.concepts import Concept, Passage, Span
from vecveil.concepts.token_classification import TokenClassification
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError

NER = "d4data/biomedical-ner-all"
"""The model by which the paper marks clinical notes."""

SHORTEST, LONGEST = 4, 60
"""Words of a sentence that is taken out of a note: notes hold headings and lists, too."""


@dataclass(frozen=True, kw_only=True)
class PiiMasking(Marked):
    """PII-Masking-300K: `source_text`, and `privacy_mask` as a list of start, end and label, or that as JSON."""

    def texts(self, data: Path) -> list[Passage]:
        """Return the texts with their marks."""
        table = TaskTable.read(self.locate(data), ["source_text", "privacy_mask"])
        found = []
        rows = zip(table.rows, table.texts("source_text"), table.columns["privacy_mask"], strict=True)
        for row, text, marked in rows:
            try:
                spans = json.loads(marked) if isinstance(marked, str) else marked or []
                marks = (Span(int(one["start"]), int(one["end"]), str(one["label"])) for one in spans)
                found.append(Passage(text, tuple(marks)))
            except (ValueError, KeyError, TypeError):
                # Whatever stands there may be private, so it is not shown.
                raise InvalidInputError(
                    f"{table.path}: 'privacy_mask' must be a list of start, end and label in every row, but not in "
                    f"row {row}"
                ) from None
        return found


@dataclass(frozen=True, kw_only=True)
class ClinicalNotes(Dataset):
    """MIMIC-III's NOTEEVENTS: notes in `TEXT`, of which the sentences are the texts, marked by a model.

    Attributes:
        model: The token classifier, by name or folder.
    """

    model: str = NER

    @property
    def concept(self) -> Concept:
        """What the model marks with one of the labels."""
        return TokenClassification(labels=tuple(self.categories.values()), model=self.model)

    def texts(self, data: Path) -> list[Passage]:
        """Return the sentences of all notes."""
        notes = TaskTable.read(self.locate(data), ["TEXT"]).texts("TEXT")
        return [Passage(sentence) for note in notes for sentence in sentences_of(note)]


def sentences_of(note: str) -> list[str]:
    """Return the sentences of a note whose lines were broken anywhere."""
    paragraphs = re.split(r"\n\s*\n", note)
    parts = (part for one in paragraphs for part in re.split(r"(?<=[.!?])\s+", " ".join(one.split())))
    return [part for part in parts if SHORTEST <= len(part.split()) <= LONGEST]


def _pii(file: Path, ner: str) -> Dataset:
    del ner
    labels = {"sex": "SEX", "city": "CITY", "state": "STATE", "country": "COUNTRY"}
    return PiiMasking(place=str(file.absolute()), categories=labels)


def _mimic(file: Path, ner: str) -> Dataset:
    return ClinicalNotes(place=str(file.absolute()), categories=DATASETS["clinical"].categories, model=ner)


LOCAL: Mapping[str, tuple[str, Callable[[Path, str], Any]]] = {
    "pii-300k": ("pii", _pii),
    "mimic-iii": ("clinical", _mimic),
}
"""By the name of the set: what it takes the place of, and how it is read."""


def with_local(files: Mapping[str, Path], *, ner: str = NER) -> dict[str, Dataset]:
    """Return all data sets, with those in place that someone has a file of."""
    found = dict(DATASETS)
    for name, file in files.items():
        place, read = LOCAL[one_of(name, LOCAL, "local data set")]
        if not file.is_file():
            raise InvalidInputError(f"there is no file {file} for {name}")
        found[place] = read(file, ner)
    return found
