"""The rows of a file that are protected: those with a text, from a given row on, and what they are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vecveil.artifacts import Source
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.embedders import Embedder
from vecveil.veil.batches import clean_vectors, has_text, named_records
from vecveil.veil.columns import ColumnPlan
from vecveil.veil.protection import Protection
from vecveil.veil.records import RecordBatch, id_bytes

LOOK = 8192
"""Rows per batch where texts are only looked at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """The rows of a table that have something to protect.

    Attributes:
        table: The input.
        plan: Which of its columns is what.
        dimensions: Length of a vector.
    """

    table: Source
    plan: ColumnPlan
    dimensions: int

    def count(self, *, skip_empty: bool) -> int:
        """Return how many rows have a text, or raise unless all have one or the others may be left out.

        A look at every row before the first is embedded: one blank note at the end must not cost the hours before it.
        """
        if not self.plan.is_text:
            return self.table.rows
        start, filled, first = 0, 0, None
        for batch in self.table.batches(LOOK):
            mask = has_text(self.plan, batch)
            if first is None and not all(mask):
                first = start + mask.index(False)
            start, filled = start + len(mask), filled + sum(mask)
        if first is not None and not skip_empty:
            more = f" ({start - filled} rows have none)" if start - filled > 1 else ""
            raise InvalidRowError(first, f"has no text{more}; leave such rows out with skip_empty=True (--skip-empty)")
        if filled == 0:
            raise InvalidInputError(f"none of the {start} rows has a text")
        return filled

    def require(self, protection: Protection, *, named: bool) -> None:
        """Raise unless all rows can be protected; of the vectors of texts, no one knows before.

        Args:
            protection: What protects them.
            named: Whether each must have an id, where there is a column of them.
        """
        ids = self.plan.ids if named else None
        if self.plan.is_text and ids is None:
            return
        start = 0
        for batch in self.table.batches(LOOK):
            if not self.plan.is_text:
                protection.checked(self.vectors(batch, None, first_row=start, alone=False), first_row=start)
            if ids is not None and batch.column(ids).null_count:
                mask = has_text(self.plan, batch) if self.plan.is_text else [True] * batch.num_rows
                for row, value in enumerate(batch.column(ids).to_pylist()):
                    if mask[row]:
                        id_bytes([value], first_row=start + row)
            start += batch.num_rows

    def batches(self, size: int, *, after: int = 0) -> Iterator[Any]:
        """Yield them in batches of at most `size`, without the first `after`."""
        for batch in self.table.batches(size):
            mask = has_text(self.plan, batch) if self.plan.is_text else [True]
            kept = batch if all(mask) else batch.take([row for row, has in enumerate(mask) if has])
            if after >= kept.num_rows:
                after -= kept.num_rows
            else:
                yield kept.slice(after)
                after = 0

    def vectors(self, batch: Any, model: Embedder | None, *, first_row: int, alone: bool) -> Embeddings:
        """Return the clean vectors of a batch; `alone` embeds its texts one by one."""
        return clean_vectors(self.plan, batch, model, dimensions=self.dimensions, first_row=first_row, alone=alone)

    def records(
        self, batch: Any, model: Embedder | None, *, first_row: int, clean: Embeddings | None = None, keyed: bool = True
    ) -> RecordBatch:
        """Return what the records of a batch are called, by `clean` vectors too where texts don't pin those."""
        return named_records(
            self.plan, batch, model, dimensions=self.dimensions, first_row=first_row, clean=clean, keyed=keyed
        )

    def all_records(self, model: Embedder | None, *, after: int = 0, keyed: bool = True) -> Iterator[RecordBatch]:
        """Yield what all records are called, without the first `after`; their noise where it is known already."""
        first_row = after
        for batch in self.batches(LOOK, after=after):
            yield self.records(batch, model, first_row=first_row, keyed=keyed)
            first_row += batch.num_rows
