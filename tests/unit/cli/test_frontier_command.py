"""`vecveil frontier` and `vecveil learn` with a target, with vectors that need no model."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import CommandLine, check_refusal, listing
from support.corpora import CITIES, ILLNESSES, QUICK, write_toy_place

from vecveil.veil import Veil

EMBEDDER = ("--embedder", "precomputed:known.parquet@words")
FRONTIER = ("frontier", "concept.toml", "notes.txt", "--out", "out", *EMBEDDER)
QUICKLY = ("--attack", QUICK, "--guide", QUICK, "--shape", "uniform", "--shape", "canonical", "--seed", "0", "1")
LEARN = ("learn", "concept.toml", "notes.txt", "--out", "b.veil", *EMBEDDER, "--no-ledger")


@pytest.fixture
def place(work: Path) -> Path:
    write_toy_place(work)
    return work


def test_a_frontier_writes_tables_and_figures_and_goes_on(run: CommandLine, place: Path) -> None:
    command = (*FRONTIER, *QUICKLY, "--level", "0.9")
    outcome = run(*command)
    assert outcome.code == 0, outcome.err
    assert "| 90% | canonical |" in outcome.out
    assert "concept taken out of the text" in outcome.out
    names = {path.name for path in (place / "out").iterdir()}
    assert {
        "frontier.json",
        "frontier.md",
        "frontier.csv",
        "frontier-cells.csv",
        "frontier.svg",
        "frontier.png",
    } <= names
    assert (place / "out" / "frontier.svg").read_text().count("</svg>") == 1
    written = b"".join(listing(place / "out").values())
    assert not any(word.encode() in written for word in ILLNESSES + CITIES)
    cells = listing(place / "out" / "cells")
    assert run(*command).out == outcome.out
    assert listing(place / "out" / "cells") == cells


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--shape", "canonicle"), ("'canonicle'", "did you mean 'canonical'")),
        (("--attack", "mlk"), ("'mlk'", "did you mean 'mlc'")),
        (("--level", "97"), ("level", "97")),
        (("--task", "stss:a.parquet"), ("'stss'", "did you mean 'sts'")),
        (("--near-copies", "7"), ("near_copies", "7")),
    ],
)
def test_a_wrong_option_is_refused_at_once(
    run: CommandLine, place: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    check_refusal(run(*FRONTIER, *options), *named)
    assert not (place / "out").exists()


def test_a_target_finds_directions_and_budget(run: CommandLine, place: Path) -> None:
    outcome = run(*LEARN, "--keep-utility", "0.9", "--attack", QUICK)
    assert outcome.code == 0, outcome.err
    veil = Veil.load(place / "b.veil")
    assert veil.epsilon is not None
    assert veil.provenance.learner["name"] == "canonical"
    assert "→" in outcome.out
    assert "90.0%" in outcome.out
    digest = veil.digest()
    assert run(*LEARN, "--keep-utility", "0.9", "--attack", QUICK, "--overwrite").code == 0
    assert Veil.load(place / "b.veil").digest() == digest


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--keep-utility", "97"), ("keep_utility", "97")),
        (("--keep-utility", "0.9", "--max-leakage", "0.1"), ("name one target",)),
        (("--keep-utility", "0.9", "--epsilon", "3"), ("--epsilon", "3.0")),
        (("--attack", "mlc"), ("--keep-utility or --max-leakage",)),
        (("--max-leakage", "0.000001", "--attack", "nearest", "--shape", "uniform"), ("at no level", "the least was")),
        (("--max-leakage", "0.999", "--attack", "nearest"), ("unprotected vectors", "too weak")),
    ],
)
def test_a_wrong_target_is_refused(
    run: CommandLine, place: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    check_refusal(run(*LEARN, *options), *named)
    assert not (place / "b.veil").exists()
