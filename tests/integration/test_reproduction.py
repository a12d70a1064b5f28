"""Experiments of the paper with the models that it takes: a packaged embedder, spaCy and Presidio."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reproduction import EXPERIMENTS, QUICK, Lab
from reproduction.__main__ import reproduce
from reproduction.datasets import DATASETS, Sizes
from reproduction.defenses import DefenseName
from reproduction.pii_baselines import REWRITERS
from support.benchmark import write_benchmark
from support.command_line import CommandLine
from vecveil.cli import main


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    place = tmp_path_factory.mktemp("reproduction")
    effort = replace(QUICK, sizes=Sizes(pairs=40, queries=6, documents=60))
    return Lab(data=write_benchmark(place / "data"), out=place / "measured", effort=effort, cache=place / "cache")


def test_named_entities_of_spacy_are_private(lab: Lab) -> None:
    bench = lab.bench("sts12")
    labels = {token.label for tokens in bench.corpus.tokens for token in tokens}
    assert {"PERSON", "GPE", "DATE"} <= labels <= {*DATASETS["sts12"].concept.expected}


def test_a_run_of_the_command_writes_its_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], work: Path
) -> None:
    run = CommandLine(monkeypatch=monkeypatch, capsys=capsys, program=lambda: main.run(reproduce))
    write_benchmark(work / "data")
    outcome = run("privacy-neurons", "--data", "data", "--out", "out", "--quick")
    assert outcome.code == 0, outcome.err
    kept = json.loads((work / "out" / "quick" / "privacy-neurons" / "result.json").read_text())
    assert kept["lab"]["embedder"] == "minilm"
    shuffled = {
        row["keys"]["ranked and tested on"]: row["ours"]
        for row in kept["rows"]
        if row["metric"] == "p-value" and row["keys"]["pairs compared"] == "paired, shuffled"
    }
    assert shuffled["same pairs"] < 1e-6 < shuffled["halves"]


def test_less_is_read_of_rewritten_texts(lab: Lab) -> None:
    clean = lab.attack_dataset("sts12", DefenseName(name="none"), "nearest", 0)
    assert clean.leakage > 0.3
    for name in REWRITERS:
        assert lab.attack_dataset("sts12", DefenseName(name=name), "nearest", 0).leakage < clean.leakage


@pytest.mark.filterwarnings("ignore:(the mask tells texts with the concept|no gate of the mask can close)")
def test_every_installed_model_has_its_lines(lab: Lab) -> None:
    result = EXPERIMENTS.load("embedding-models")().run(lab)
    ours = [row for row in result.rows if row.keys["embedder"] == "minilm" and row.paper is not None]
    assert len(ours) == 8
    assert all(row.ours is not None for row in ours)
    missing = {row.keys["embedder"] for row in result.rows if row.ours is None}
    assert {"gtr-base", "sentence-t5"} <= missing
    assert "mpnet" in {row.keys["embedder"] for row in result.rows} or any("mpnet was" in one for one in result.notes)
