"""A whole frontier through the command line, with attacks that are really trained; no model is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import CommandLine, listing
from support.corpora import CITIES, ILLNESSES, QUICK, write_toy_place

EMBEDDER = ("--embedder", "precomputed:known.parquet@words")
FRONTIER = ("frontier", "concept.toml", "notes.txt", "--out", "out", *EMBEDDER)
QUICKLY = ("--attack", QUICK, "--guide", QUICK, "--shape", "uniform", "--shape", "canonical", "--seed", "0", "1")


@pytest.fixture
def toy_place(work: Path) -> Path:
    """A working folder with texts, a concept and vectors."""
    write_toy_place(work)
    return work


def test_a_frontier_writes_tables_and_figures_and_goes_on(run: CommandLine, toy_place: Path) -> None:
    command = (*FRONTIER, *QUICKLY, "--level", "0.9")
    outcome = run(*command)
    assert outcome.code == 0, outcome.err
    assert "| 90 % | canonical |" in outcome.out
    assert "concept taken out of the text" in outcome.out
    names = {path.name for path in (toy_place / "out").iterdir()}
    assert {
        "frontier.json",
        "frontier.md",
        "frontier.csv",
        "frontier-cells.csv",
        "frontier.svg",
        "frontier.png",
    } <= names
    assert (toy_place / "out" / "frontier.svg").read_text().count("</svg>") == 1
    written = b"".join(listing(toy_place / "out").values())
    assert not any(word.encode() in written for word in ILLNESSES + CITIES)
    cells = listing(toy_place / "out" / "cells")
    assert run(*command).out == outcome.out
    assert listing(toy_place / "out" / "cells") == cells
