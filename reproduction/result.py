"""Findings of an experiment: figures beside the paper's, tables and plots."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.audit.experiment import Experiment
from vecveil.core.atomic import atomic_file
from vecveil.core.errors import MissingExtraError, VecveilWarning
from vecveil.reports.table import Column, Table, TableCell, significant, words

RESULT = "result.json"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure, the paper's and ours.

    Attributes:
        keys: What it belongs to, such as dataset, epsilon and defense.
        scale: How epsilon was read: `paper` or `literal`; empty where there is none.
        metric: What was measured, in the unit of the paper.
        ours: The mean over seeds; None where it could not be measured.
        deviation: Standard deviation over seeds; None with one of them.
        seeds: How many there were.
        paper: The printed figure; None where there is none.
    """

    keys: Mapping[str, str]
    scale: str
    metric: str
    ours: float | None
    deviation: float | None = None
    seeds: int = 1
    paper: float | None = None


@dataclass(frozen=True, kw_only=True)
class PaperResult:
    """The outcome of one experiment.

    Attributes:
        name: Of the experiment.
        title: What it is about.
        rows: Every figure.
        notes: What stood in for what, and what could not be run.
        lab: What the figures depend on beside the data.
        plots: How to draw each figure, by name.
        tables: Further tables.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    lab: Mapping[str, Any] = field(default_factory=dict)
    plots: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()

    def table(self) -> Table:
        """Return one line for each setting, and for each metric the paper's figure, ours and the difference."""
        axes = list(dict.fromkeys(axis for row in self.rows for axis in row.keys))
        metrics = list(dict.fromkeys(row.metric for row in self.rows))
        scaled = any(row.scale for row in self.rows)
        groups: dict[tuple[str, ...], dict[str, Row]] = {}
        for row in self.rows:
            place = (*(row.keys.get(axis, "") for axis in axes), *([row.scale] if scaled else []))
            groups.setdefault(place, {})[row.metric] = row
        columns = [Column(key=axis, title=axis, words=True) for axis in axes]
        columns += [Column(key="scale", title="scale of ε", words=True)] if scaled else []
        for metric in metrics:
            columns += [
                Column(key=f"{metric}_{part}", title=f"{metric}, {part}") for part in ("paper", "ours", "difference")
            ]
        return Table(
            name=self.name,
            title=self.title,
            note=" ".join(self.notes),
            columns=tuple(columns),
            rows=tuple(
                (*map(words, place), *(cell for metric in metrics for cell in _cells(found.get(metric))))
                for place, found in groups.items()
            ),
        )

    def write(self, folder: Path) -> None:
        """Write tables as Markdown, CSV and LaTeX, plots as SVG and PNG, and every row as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        tables = (self.table(), *self.tables)
        contents = {f"{self.name}.md": "\n".join(table.markdown() for table in tables)}
        for table in tables:
            contents |= {f"{table.name}.csv": table.csv(), f"{table.name}.tex": table.latex()}
        for name, content in contents.items():
            with atomic_file(folder / name) as draft:
                draft.write_text(content, encoding="utf-8")
        Experiment(folder).write(
            RESULT,
            {"name": self.name, "title": self.title, "notes": self.notes, "rows": self.rows, "lab": dict(self.lab)},
        )
        try:
            self._draw(folder)
        except MissingExtraError as error:
            warnings.warn(f"no figures were drawn: {error}", VecveilWarning, stacklevel=2)

    def _draw(self, folder: Path) -> None:
        for name, drawn in self.plots.items():
            figure = drawn()
            import matplotlib

            for kind in ("svg", "png"):
                # No date and no random names in the file: the same figures make the same plot.
                with atomic_file(folder / f"{name}.{kind}") as draft, matplotlib.rc_context({"svg.hashsalt": name}):
                    figure.savefig(draft, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def row_of(
    keys: Mapping[str, str], metric: str, values: Sequence[float], *, scale: str = "", paper: float | None = None
) -> Row:
    """Return the row of a figure that was measured once for each seed."""
    known = [value for value in values if np.isfinite(value)]
    return Row(
        keys=dict(keys),
        scale=scale,
        metric=metric,
        ours=float(np.mean(known)) if known else None,
        deviation=float(np.std(known, ddof=1)) if len(known) > 1 else None,
        seeds=len(known),
        paper=paper,
    )


def _cells(row: Row | None) -> tuple[TableCell, TableCell, TableCell]:
    if row is None:
        return significant(None), significant(None), significant(None)
    ours = significant(row.ours)
    if row.deviation is not None and row.ours is not None:
        ours = TableCell(text=f"{ours.text} ± {row.deviation:.2g}", value=row.ours)
    # How far two p-values are apart says nothing.
    known = row.paper is not None and row.ours is not None and row.metric != "p-value"
    return significant(row.paper), ours, significant((row.ours or 0.0) - (row.paper or 0.0) if known else None)
