"""Sentences beside what was read of them, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vecveil.audit.rows import Reconstruction
from vecveil.reports.table import Column, Table, TableCell, number, words


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One sentence and what was read of it.

    Attributes:
        example: Of the paper's examples, the one that it stands for.
        text: What was written.
        private: Its words that the example is about.
        readings: What was read behind each defense, by its title.
    """

    example: str
    text: str
    private: set[str]
    readings: Mapping[str, Reconstruction]


def sentences_table(shown: Sequence[Shown]) -> Table:
    """Return what was written and what was read, line by line, and whether the private word was."""
    rows: list[tuple[TableCell, ...]] = []
    for one in shown:
        rows.append((words(one.example), words("what was written"), words(""), words(""), words(one.text)))
        for title, reading in one.readings.items():
            outcome = words("read" if one.private & {*reading.leaked} else "hidden")
            rows.append(
                (
                    words(one.example),
                    words(title),
                    outcome,
                    number(reading.similarity),
                    words(reading.text or ""),
                )
            )
    return Table(
        name="case-study-sentences",
        title="What was read",
        note="Texts of the data: keep this table as safe as they are.",
        columns=(
            Column(key="example", title="example", words=True),
            Column(key="defense", title="defense", words=True),
            Column(key="outcome", title="private word", words=True),
            Column(key="similarity", title="similarity"),
            Column(key="sentence", title="sentence", words=True),
        ),
        rows=tuple(rows),
    )
