from __future__ import annotations

import csv
import io

import pytest

from vecveil.audit.rows import Estimate
from vecveil.reports.table import Column, Table, TableCell, count, number, share, significant, words

ESTIMATE = Estimate(value=0.531, low=0.5, high=0.5625)


def table(*rows: tuple[TableCell, ...]) -> Table:
    columns = Column(key="who", title="Who", words=True), Column(key="leakage", title="Leakage", interval=True)
    return Table(name="t", title="A table", note="A note.", columns=columns, rows=rows)


def test_machines_read_full_numbers_and_the_ends_of_intervals() -> None:
    lines = list(csv.DictReader(io.StringIO(table((words("a, b"), share(ESTIMATE)), (words("c"), share(None))).csv())))
    assert lines == [
        {"who": "a, b", "leakage": "0.531", "leakage_low": "0.5", "leakage_high": "0.5625"},
        {"who": "c", "leakage": "", "leakage_low": "", "leakage_high": ""},
    ]


def test_markdown_aligns_words_left_and_numbers_right() -> None:
    assert table((words("a"), share(0.5))).markdown() == (
        "## A table\n\nA note.\n\n| Who | Leakage |\n| --- | ---: |\n| a | 50.0 % |\n"
    )


def test_no_sign_in_a_cell_breaks_out_of_it() -> None:
    line = table((words("a|b\n<img> `x` [y](z)"), share(0.5))).markdown().splitlines()[-1]
    assert line == r"| a\|b \<img\> \`x\` \[y\](z) | 50.0 % |"


def test_an_empty_table_says_so() -> None:
    assert table().markdown() == "## A table\n\nA note.\n\nNothing of this kind was run.\n"


def test_latex_has_no_sign_that_means_something_else() -> None:
    shown = table((words("50 % of a_b & {c} ε"), share(ESTIMATE)), (words("λ ± –"), share(None))).latex()
    lines = shown.splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert lines[-1] == r"\end{tabular}"
    assert r"50 \% of a\_b \& \{c\} $\varepsilon$ & 53.1 \% [50.0, 56.2] \\" in lines
    assert r"$\lambda$ $\pm$ -- & -- \\" in lines


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (share(ESTIMATE), "53.1 % [50.0, 56.2]"),
        (number(ESTIMATE), "0.531 [0.500, 0.562]"),
        (number(Estimate(value=0.5, low=0.5, high=0.5)), "0.500"),
        (share(None), "–"),
        (share(float("nan")), "–"),
        (significant(1280.4), "1,280"),
        (significant(-3.14159), "-3.14"),
        (count(12345), "12,345"),
        (words(""), "–"),
    ],
)
def test_people_read_rounded_numbers(cell: TableCell, text: str) -> None:
    assert str(cell) == text
