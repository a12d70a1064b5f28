"""Learning to a target through the command line, with attacks that are really trained; no model is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.corpora import write_toy_place
from vecveil.veil import Veil

EMBEDDER = ("--embedder", "precomputed:known.parquet@words")
WITH_TARGET = ("learn", "concept.toml", "--public", "notes.txt", "--out", "b.veil", *EMBEDDER)


@pytest.fixture
def toy_place(work: Path) -> Path:
    """A working folder with texts, a concept and vectors."""
    write_toy_place(work)
    return work


def test_a_target_finds_directions_and_budget(run: CommandLine, toy_place: Path) -> None:
    outcome = run(*WITH_TARGET, "--keep-utility", "0.2")
    assert outcome.code == 0, outcome.err
    veil = Veil.load(toy_place / "b.veil")
    assert veil.epsilon is not None
    assert veil.provenance.learner["name"] == "canonical"
    assert "The strongest attack reads" in " ".join(outcome.out.split())
    digest = veil.digest()
    assert run(*WITH_TARGET, "--keep-utility", "0.2", "--overwrite").code == 0
    assert Veil.load(toy_place / "b.veil").digest() == digest
