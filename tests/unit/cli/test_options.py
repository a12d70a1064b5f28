from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from support.veils import made_veil
from vecveil.cli.options import (
    AT_LEAST_ONE,
    NumbersCommand,
    NumbersOption,
    Stopped,
    budget_lines,
    budget_options,
    budgets_options,
    choose_ledger,
    flag,
    guard_sheet,
    list_names,
    option,
    parse_setting,
    stop_with,
)
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS
from vecveil.veil import Guard


@click.command(cls=NumbersCommand)
@click.argument("first")
@click.argument("second", required=False)
@click.option("--epsilon", "-e", "epsilons", cls=NumbersOption, type=float)
@click.option("--seed", "seeds", cls=NumbersOption, type=int)
@click.option("--out")
@click.option("--quiet", is_flag=True)
def echo(**given: object) -> None:
    click.echo(" ".join(str(given[name]) for name in ("first", "second", "epsilons", "seeds", "out", "quiet")))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("a b --epsilon 5 10 20", "a b (5.0, 10.0, 20.0) () None False"),
        ("a b --epsilon 5", "a b (5.0,) () None False"),
        ("a b --epsilon 5 --epsilon 10", "a b (5.0, 10.0) () None False"),
        ("a b --epsilon 5 10 --epsilon 20 30", "a b (5.0, 10.0, 20.0, 30.0) () None False"),
        ("a b --epsilon=5", "a b (5.0,) () None False"),
        ("a b --epsilon=5 10 --out x", "a b (5.0, 10.0) () x False"),
        ("a b -e 5 10", "a b (5.0, 10.0) () None False"),
        ("a b --epsilon -5 10 -2.5 1e3 .5", "a b (-5.0, 10.0, -2.5, 1000.0, 0.5) () None False"),
        ("a b --epsilon 0.5 1 --seed 0 1", "a b (0.5, 1.0) (0, 1) None False"),
        ("a b --epsilon 5 10 --quiet --out 7", "a b (5.0, 10.0) () 7 True"),
        ("--epsilon 5 10 a b", "a b (5.0, 10.0) () None False"),
        ("--seed 0 1 a --epsilon 5 10 b", "a b (5.0, 10.0) (0, 1) None False"),
        ("--epsilon 5 10 -- 20 b", "20 b (5.0, 10.0) () None False"),
        ("--out 5 10 b", "10 b () () 5 False"),
        ("a --out 5", "a None () () 5 False"),
        ("7 8", "7 8 () () None False"),
    ],
)
def test_an_option_takes_all_the_numbers_that_follow_it(arguments: str, said: str) -> None:
    result = CliRunner().invoke(echo, arguments.split())
    assert (result.exit_code, result.output.strip()) == (0, said)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("a --epsilon", "Option '--epsilon' requires an argument"),
        ("a --epsilon much", "'much' is not a valid float"),
        ("a --epsilon --out x", "'--out' is not a valid float"),
        ("a --seed 1 1.5", "'1.5' is not a valid integer"),
        ("a b --epsilon 5 much", "unexpected extra argument (much)"),
    ],
)
def test_what_is_no_number_is_refused(arguments: str, named: str) -> None:
    result = CliRunner().invoke(echo, arguments.split())
    assert result.exit_code == 2
    assert named in result.output


@click.command()
@option("--out DIR", "Where to.", into="folder")
@option("--picture FILE.svg", "A picture.")
@option("--label LABEL", "A label.", multiple=True)
@option("--rows", "How many.", default=5, type=AT_LEAST_ONE)
@option("--kind", "Which.", default="")
@flag("--all", "All of them.", into="everything")
def options_as_shown(**given: object) -> None:
    click.echo(repr(dict(sorted(given.items()))))


def test_an_option_is_what_its_help_shows() -> None:
    shown = " ".join(CliRunner().invoke(options_as_shown, ["--help"]).output.split())
    for part in ("--out DIR Where to. --picture FILE.svg", "--label LABEL A label. --rows", "--all All of them."):
        assert part in shown
    assert "How many. [default: 5; x>=1]" in shown
    assert shown.count("[default") == 1


def test_an_option_for_a_file_or_folder_is_a_path_and_has_a_name_of_its_own_where_one_is_given() -> None:
    given = CliRunner().invoke(options_as_shown, ["--out", "a", "--picture", "b", "--label", "c", "--all"]).output
    paths = f"'folder': {Path('a')!r}, 'kind': '', 'label': ('c',), 'picture': {Path('b')!r}, 'rows': 5"
    assert given == f"{{'everything': True, {paths}}}\n"
    assert "'folder': None" in CliRunner().invoke(options_as_shown, []).output


def test_ctrl_c_ends_in_what_is_kept() -> None:
    with pytest.raises(Stopped, match=r"^all is kept$"), stop_with("all is kept"):
        raise KeyboardInterrupt
    with pytest.raises(InvalidInputError), stop_with("all is kept"):
        raise InvalidInputError("wrong")


@click.command()
@budget_options
def one_budget(**given: object) -> None:
    click.echo(str(dict(sorted(given.items()))))


@click.command(cls=NumbersCommand)
@budgets_options
def several_budgets(**given: object) -> None:
    click.echo(str(dict(sorted(given.items()))))


def test_a_budget_has_the_same_three_names_for_one_and_for_several() -> None:
    one = CliRunner().invoke(one_budget, ["--epsilon", "8"])
    assert one.output == "{'epsilon': 8.0, 'noise_ratio': None, 'paper_epsilon': None}\n"
    several = CliRunner().invoke(several_budgets, ["--paper-epsilon", "5", "10", "--noise-ratio", "0.5"])
    assert several.output == "{'epsilon': (), 'noise_ratio': (0.5,), 'paper_epsilon': (5.0, 10.0)}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("epochs=3", ("epochs", 3)),
        ("learning-rate=1e-3", ("learning_rate", 0.001)),
        ("hidden=[64, 32]", ("hidden", (64, 32))),
        ("loss=sum", ("loss", "sum")),
        ("standardize=false", ("standardize", False)),
        ("note=a=b", ("note", "a=b")),
        ("empty=", ("empty", "")),
    ],
)
def test_a_setting_is_json_where_it_can_be(text: str, expected: tuple[str, Any]) -> None:
    assert parse_setting(text) == expected


@pytest.mark.parametrize("text", ["epochs", "=3", ""])
def test_a_setting_without_a_name_or_a_value_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="--set takes NAME=VALUE"):
        parse_setting(text)


def test_releases_are_on_record_unless_told_otherwise() -> None:
    assert choose_ledger(None, no_ledger=False) == "default"
    assert choose_ledger("book.sqlite", no_ledger=False) == "book.sqlite"
    assert choose_ledger(None, no_ledger=True) == "none"


def test_a_ledger_and_none_contradict_each_other_and_no_password_is_shown() -> None:
    with pytest.raises(InvalidInputError, match="--ledger or --no-ledger, not both") as refusal:
        choose_ledger("postgresql://me:secret@host/db", no_ledger=True)
    assert "secret" not in str(refusal.value)


def test_the_readings_of_a_budget_come_with_its_warnings_and_the_way_to_the_rest() -> None:
    sheet = made_veil().guarantee(epsilon=0.1)
    assert sheet.warnings
    lines = budget_lines(sheet)
    assert lines[0] == str(sheet.readings)
    assert lines[1:-1] == [f"Warning: {warning}." for warning in sheet.warnings]
    assert lines[-1].endswith("vecveil guarantee")


def test_what_a_guard_lets_out_is_guaranteed_at_its_own_budget() -> None:
    sheet = guard_sheet(Guard(made_veil(), noise_ratio=0.5, grid="int8"))
    assert str(sheet) == str(made_veil().guarantee(noise_ratio=0.5, grid="int8"))


def test_a_help_names_what_is_registered() -> None:
    assert list_names("Mechanism", MECHANISMS) == "Mechanism: laplace, mahalanobis, purkayastha."
