from __future__ import annotations

import subprocess
import sys
import warnings

import click
import pytest

import vecveil
from support.command_line import CommandLine, check_refusal, finished, start
from vecveil.cli.main import SUMMARIES, commands
from vecveil.cli.show import show
from vecveil.core.errors import ArtifactError, VecveilWarning


def test_help_lists_every_command(run: CommandLine) -> None:
    outcome = run("--help")
    assert outcome.code == 0
    listed = outcome.out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed if line[2] != " "] == list(SUMMARIES)


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_command_has_help(run: CommandLine, name: str) -> None:
    outcome = run(name, "-h")
    assert outcome.code == 0
    assert f" {name} [OPTIONS]" in outcome.out.splitlines()[0]


def test_the_version_is_that_of_the_package(run: CommandLine) -> None:
    assert run("--version").out == f"vecveil {vecveil.__version__}\n"


def test_a_misspelled_command_is_guessed_at(run: CommandLine) -> None:
    check_refusal(run("protct"), "unknown command 'protct'", "did you mean 'protect'")


def test_a_misspelled_option_is_guessed_at(run: CommandLine) -> None:
    check_refusal(run("guarantee", "a.veil", "--epsilom", "3"), "--epsilom", "--epsilon")


def test_an_error_of_ours_is_one_line_and_exit_code_1(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ArtifactError("it is broken")

    monkeypatch.setattr(show, "callback", fail)
    outcome = run("show", "a.veil")
    assert (outcome.code, outcome.err, outcome.out) == (1, "Error: it is broken\n", "")


def test_an_error_of_the_system_is_one_line_and_exit_code_1(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr(show, "callback", fail)
    outcome = run("show", "a.veil")
    assert (outcome.code, outcome.err) == (1, "Error: /some/file: Permission denied\n")


def test_a_warning_is_one_line_however_often_it_is_given(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(**_: object) -> None:
        for message in ("texts are cut", "texts are cut", "words are few"):
            warnings.warn(message, VecveilWarning, stacklevel=1)

    monkeypatch.setattr(show, "callback", warn)
    assert run("show", "a.veil").err == "Warning: texts are cut\nWarning: words are few\n"


def test_ctrl_c_is_one_line_and_exit_code_130(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(show, "callback", stop)
    outcome = run("show", "a.veil")
    assert outcome.code == 130
    # The line before it is where the terminal shows ^C.
    assert outcome.err.strip().startswith("Stopped.")
    assert outcome.err.strip().count("\n") == 0


def test_a_reader_that_goes_away_is_no_error() -> None:
    quiet = "import os; os.close(0)"
    loud = (
        "import click, vecveil.cli.main as m, vecveil.cli.show as s\n"
        "s.show.callback = lambda **_: [click.echo('x' * 9999) for _ in range(99)]\n"
        "m.main()"
    )
    with subprocess.Popen([sys.executable, "-c", quiet], stdin=subprocess.PIPE) as reader:
        writer = subprocess.run(
            [sys.executable, "-c", loud, "show", "a.veil"],
            stdout=reader.stdin,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert reader.stdin is not None
        reader.stdin.close()
    assert (writer.returncode, writer.stderr) == (0, "")


def test_help_imports_neither_torch_nor_arrow() -> None:
    before = "import atexit, sys; atexit.register(lambda: print(*{'torch', 'pyarrow', 'rich'} & set(sys.modules)))"
    outcome = finished(start("learn", "--help", before=before))
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == ""


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_commands_line_in_the_list_is_the_first_of_its_help(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(limit=200) == SUMMARIES[name]
