from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.embedders import WordEmbedder
from support.travel_notes import travel_notes
from vecveil.attacks.generation.prior import load_prior
from vecveil.cli.main import commands
from vecveil.cli.prior import prior
from vecveil.core.errors import InvalidInputError, UnknownNameError

SMALL = tuple(f"--set={setting}" for setting in ("width=32", "layers=1", "heads=2", "vocabulary=400", "max-tokens=8"))


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("vecveil.embedders.resolve_embedder", lambda *_, **__: WordEmbedder())
    sample, held_out, test = travel_notes()
    path = tmp_path / "notes.txt"
    path.write_text("\n".join([*sample.texts, *held_out.texts, *test.texts]), encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    # With the settings of all commands: Click remembers a command's own help as it is first asked for.
    settings = commands.context_settings
    return CliRunner().invoke(prior, [str(argument) for argument in arguments], catch_exceptions=False, **settings)


def test_a_prior_is_trained_and_its_loss_is_shown(notes: Path, tmp_path: Path) -> None:
    result = run("geia", notes, "--out", tmp_path / "prior", "--epochs", 1, "--sentences", 100, *SMALL)
    assert result.exit_code == 0
    assert "decoder: 2 steps, held-out loss" in result.stdout
    assert load_prior(tmp_path / "prior").plan["sentences"] == 100


def test_the_same_command_again_does_nothing_more(notes: Path, tmp_path: Path) -> None:
    arguments = ("geia", notes, "--out", tmp_path / "prior", "--epochs", 1, *SMALL)
    first = run(*arguments)
    assert run(*arguments).stdout == first.stdout


def test_other_settings_in_the_same_folder_are_refused(notes: Path, tmp_path: Path) -> None:
    run("geia", notes, "--out", tmp_path / "prior", "--epochs", 1, *SMALL)
    with pytest.raises(InvalidInputError, match="begun with other settings"):
        run("geia", notes, "--out", tmp_path / "prior", "--epochs", 1, *SMALL, "--set", "hidden=8")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["mlc"], InvalidInputError, "the attack 'mlc' writes no texts, so it needs no prior"),
        (["gaia"], UnknownNameError, "did you mean 'geia'"),
        (["geia", "--set", "widht=3"], UnknownNameError, "did you mean 'width'"),
        (["geia", "--set", "width"], InvalidInputError, "--set takes NAME=VALUE, got 'width'"),
        (["geia", "--sentences", "0"], InvalidInputError, "sentences must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_requests_are_refused(
    arguments: list[str], error: type[Exception], message: str, notes: Path, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        run(*arguments[:1], notes, *arguments[1:], "--out", tmp_path / "prior")
    assert not (tmp_path / "prior").exists()
