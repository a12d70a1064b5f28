"""`python -m reproduction`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reproduction import EXPERIMENTS
from reproduction.__main__ import reproduce
from support.benchmark import write_benchmark
from support.command_line import CommandLine
from vecveil.cli import main


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command, in this process."""
    return CommandLine(monkeypatch=monkeypatch, capsys=capsys, program=lambda: main.run(reproduce))


def test_the_list_names_every_experiment(run: CommandLine) -> None:
    outcome = run("list")
    assert outcome.code == 0
    assert all(name in outcome.out for name in EXPERIMENTS.builtin)


def test_a_run_writes_its_tables_and_goes_on_where_it_was(run: CommandLine, work: Path) -> None:
    write_benchmark(work / "data")
    command = ("privacy-neurons", "--data", "data", "--out", "out", "--quick")
    outcome = run(*command)
    assert outcome.code == 0, outcome.err
    assert "| paired | same pairs | top | 0.04 |" in outcome.out
    folder = work / "out" / "quick" / "privacy-neurons"
    assert {"privacy-neurons.md", "privacy-neurons.csv", "privacy-neurons.tex", "privacy-neurons-all.svg"} <= {
        path.name for path in folder.iterdir()
    }
    kept = json.loads((folder / "result.json").read_text())
    assert kept["lab"]["effort"]["name"] == "quick"
    assert kept["lab"]["embedder"] == "minilm"
    assert kept["lab"]["effort"]["seeds"] == [0]
    assert run(*command).out == outcome.out


def test_a_first_look_can_be_repeated_with_more_seeds(run: CommandLine, work: Path) -> None:
    write_benchmark(work / "data")
    outcome = run("privacy-neurons", "--data", "data", "--out", "out", "--quick", "--seeds", "2")
    assert outcome.code == 0, outcome.err
    kept = json.loads((work / "out" / "quick" / "privacy-neurons" / "result.json").read_text())
    assert kept["lab"]["effort"]["seeds"] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("main-result", "--data", ".", "--out", "out"), ("'main-result'", "did you mean 'main-results'")),
        (("overhead",), ("needs --data and --out",)),
        (("overhead", "--data", "nowhere", "--out", "out"), ("there is no folder nowhere",)),
        (("overhead", "--data", ".", "--out", "out", "--prior", "geia"), ("NAME=PATH", "'geia'")),
        (("overhead", "--data", ".", "--out", "out", "--prior", "geia=."), ("there is no prior",)),
        (("overhead", "--data", ".", "--out", "out", "--local", "mimic=x"), ("'mimic'", "did you mean 'mimic-iii'")),
        (("overhead", "--data", ".", "--out", "out", "--local", "pii-300k=x"), ("there is no file x",)),
        (("overhead", "--data", ".", "--out", "out", "--seeds", "0"), ("--seeds", "at least 1", "got 0")),
        (("privacy-neurons", "--data", ".", "--out", "out", "--quick"), ("has no sts12/sts12.parquet",)),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    run: CommandLine, work: Path, arguments: tuple[str, ...], said: tuple[str, ...]
) -> None:
    outcome = run(*arguments)
    assert outcome.code != 0
    assert all(part in outcome.err for part in said), outcome.err
    assert not (work / "out" / "quick").exists()
