from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from support.command_line import CommandLine
from support.tiny_model import write_tiny_model
from support.veils import PRIVATE_WORD
from vecveil.concepts import terms
from vecveil.veil import learn

# A time is never a test: machines are busy.
settings.register_profile("vecveil", deadline=None)
settings.load_profile("vecveil")


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger for each test, so that none writes into its user's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    monkeypatch.delenv("VECVEIL_LEDGER", raising=False)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line, in this process."""
    return CommandLine(monkeypatch=monkeypatch, capsys=capsys)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny sentence-transformers model of 16 dimensions."""
    return write_tiny_model(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(scope="session")
def private_texts() -> list[str]:
    """Texts of which every second one holds the private word."""
    return [
        f"Patient {number} has {PRIVATE_WORD} and rests well." if number % 2 else f"Visit {number} was calm and short."
        for number in range(24)
    ]


@pytest.fixture(scope="session")
def learned_folder(tmp_path_factory: pytest.TempPathFactory, model_folder: Path, private_texts: list[str]) -> Path:
    """A veil that was learned with the tiny model, keeps private words and keeps no budget."""
    folder = tmp_path_factory.mktemp("veils") / "learned.veil"
    kept = learn(terms(PRIVATE_WORD), private_texts, embedder=str(model_folder), shape="uniform", substitution="keep")
    kept.save(folder)
    return folder


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is also the working folder, so that messages hold short paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ledger_place(tmp_path: Path) -> str:
    """A path at which a ledger can be made; in `integration`, a database of PostgreSQL."""
    return str(tmp_path / "books" / "ledger.sqlite")
