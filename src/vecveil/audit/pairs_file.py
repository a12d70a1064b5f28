"""Pairs of texts with scores in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from vecveil.audit.table import Table
from vecveil.core.checks import at_least


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
        pairs: Most pairs to use, taken evenly; all where None.
    """

    what: ClassVar[str] = "FILE"

    target: str
    sentence1: str = "sentence1"
    sentence2: str = "sentence2"
    score: str = "score"
    split: str | None = None
    split_column: str = "split"
    pairs: int | None = None

    def __post_init__(self) -> None:
        if self.pairs is not None:
            at_least(self.pairs, 2, "pairs")

    def read(self) -> Mapping[str, Any]:
        """Return the data of an `Sts`, by the names of its fields."""
        path = Path(self.target)
        columns = [self.sentence1, self.sentence2, self.score]
        wanted = [] if self.split is None else [self.split_column]
        table = Table.read(path, [*columns, *wanted])
        if self.split is not None:
            table = table.where(self.split_column, str(self.split))
        parts = [] if self.split is None else [str(self.split)]
        parts += [] if self.pairs is None else [f"{self.pairs} pairs"]
        table = table.some(self.pairs)
        return {
            "first": tuple(table.texts(self.sentence1)),
            "second": tuple(table.texts(self.sentence2)),
            "scores": tuple(table.numbers(self.score)),
            "source": path.name + (f"[{', '.join(parts)}]" if parts else ""),
        }
