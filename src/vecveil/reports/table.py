"""Tables of cells, as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vecveil.audit.rows import Estimate

NOTHING = "–"


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """One entry of a table.

    Attributes:
        text: For people.
        value: For machines; None where there is none.
        low: Lower end of the interval, where there is one.
        high: Upper end of it.
        interval: The interval for people; empty where there is none.
    """

    text: str
    value: str | float | None = None
    low: float | None = None
    high: float | None = None
    interval: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.interval}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its name in files, its title for people, and what its cells hold: words, numbers, or intervals."""

    key: str
    title: str
    words: bool = False
    interval: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under columns.

    Attributes:
        name: Of its file.
        title: Its heading.
        note: What a reader must know to read it.
        columns: From left to right.
        rows: From top to bottom, one cell per column.
    """

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]

    def markdown(self) -> str:
        """Return heading, note and rows."""
        if not self.rows:
            return "\n".join(
                (f"## {self.title}", "", *([self.note, ""] if self.note else []), "Nothing of this kind was run.", "")
            )
        titles = [_plain(column.title) for column in self.columns]
        rules = ["---" if column.words else "---:" for column in self.columns]
        rows = [[_plain(str(cell)) for cell in row] for row in self.rows]
        lines = [f"| {' | '.join(line)} |" for line in (titles, rules, *rows)]
        return "\n".join((f"## {self.title}", "", self.note, "", *lines, ""))

    def latex(self) -> str:
        """Return the rows as a table of LaTeX, for the package booktabs."""
        kinds = "".join("l" if column.words else "r" for column in self.columns)
        lines = [[_latex(column.title) for column in self.columns]]
        lines += [[_latex(str(cell)) for cell in row] for row in self.rows]
        head, *body = (" & ".join(line) + r" \\" for line in lines)
        inner = (
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        )
        return "\n".join((*inner, ""))

    def csv(self) -> str:
        """Return the values; a column with intervals takes three."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([name for column in self.columns for name in _names(column)])
        for row in self.rows:
            writer.writerow([value for pair in zip(self.columns, row, strict=True) for value in _values(*pair)])
        return stream.getvalue()


def words(text: str) -> TableCell:
    """Return a cell of words."""
    return TableCell(text=text or NOTHING, value=text)


def count(value: int) -> TableCell:
    """Return a cell with a number of things."""
    return TableCell(text=f"{value:,}", value=value)


def number(value: float | Estimate | None) -> TableCell:
    """Return a cell with a score as it is."""
    return _cell(value, lambda part: f"{part:.3f}")


def share(value: float | Estimate | None) -> TableCell:
    """Return a cell with a share, as a percentage for people."""
    return _cell(value, lambda part: f"{100 * part:.1f}", unit=" %")


def significant(value: float | None) -> TableCell:
    """Return a cell with a number of any size."""
    return _cell(value, lambda part: f"{part:,.0f}" if abs(part) >= 100 else f"{part:.3g}")


def _cell(value: float | Estimate | None, shown: Callable[[float], str], *, unit: str = "") -> TableCell:
    middle = value.value if isinstance(value, Estimate) else value
    if middle is None or not math.isfinite(middle):
        return TableCell(text=NOTHING)
    if not isinstance(value, Estimate):
        return TableCell(text=shown(middle) + unit, value=middle)
    # One seed of a task has no spread, and an interval without one only makes a table harder to read.
    interval = f"[{shown(value.low)}, {shown(value.high)}]" if value.low < value.high else ""
    return TableCell(text=shown(middle) + unit, value=middle, low=value.low, high=value.high, interval=interval)


def _names(column: Column) -> Sequence[str]:
    return (column.key, f"{column.key}_low", f"{column.key}_high") if column.interval else (column.key,)


def _values(column: Column, cell: TableCell) -> Sequence[str | float | None]:
    return (cell.value, cell.low, cell.high) if column.interval else (cell.value,)


def _latex(text: str) -> str:
    """Return `text` so that LaTeX prints it as it is."""
    signs = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "ε": r"$\varepsilon$",
    }
    signs |= {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"λ": r"$\lambda$", "±": r"$\pm$", "µ": r"\textmu{}"}
    return " ".join("".join(signs.get(sign, sign) for sign in text).split())


def _plain(text: str) -> str:
    """Return `text` so that no sign in it ends a cell or starts a markup."""
    for sign in "\\|<>*_`[]":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
