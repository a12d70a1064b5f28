"""Pairs of texts with scores in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from vecveil.audit.table import Table


@dataclass(frozen=True, kw_only=True)
class PairsFile:
    """A table with two texts and a score in each row.

    Attributes:
        target: Parquet, Arrow, JSONL, CSV or TSV.
        sentence1: Column of the first texts.
        sentence2: Column of the second texts.
        score: Column of the scores.
        split: The rows to use: those with this value in `split_column`; all where None.
        split_column: Column that tells the split of a row.
    """

    what: ClassVar[str] = "FILE"

    target: str
    sentence1: str = "sentence1"
    sentence2: str = "sentence2"
    score: str = "score"
    split: str | None = None
    split_column: str = "split"

    def read(self) -> Mapping[str, Any]:
        """Return the data of an `Sts`, by the names of its fields."""
        path = Path(self.target)
        columns = [self.sentence1, self.sentence2, self.score]
        if self.split is None:
            table, source = Table.read(path, columns), path.name
        else:
            whole = Table.read(path, [*columns, self.split_column])
            table, source = whole.where(self.split_column, str(self.split)), f"{path.name}[{self.split}]"
        return {
            "first": tuple(table.texts(self.sentence1)),
            "second": tuple(table.texts(self.sentence2)),
            "scores": tuple(table.numbers(self.score)),
            "source": source,
        }
