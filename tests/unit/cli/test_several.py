from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from vecveil.cli.several import CommandOfNumbers, SeveralNumbers


@click.command(cls=CommandOfNumbers)
@click.argument("first")
@click.argument("second", required=False)
@click.option("--epsilon", "-e", "epsilons", cls=SeveralNumbers, type=float)
@click.option("--seed", "seeds", cls=SeveralNumbers, type=int)
@click.option("--out")
@click.option("--quiet", is_flag=True)
def echo(**given: object) -> None:
    click.echo(" ".join(str(given[name]) for name in ("first", "second", "epsilons", "seeds", "out", "quiet")))


def _said(*arguments: str) -> str:
    result = CliRunner().invoke(echo, arguments)
    assert result.exit_code == 0, result.output
    return result.output.strip()


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
    assert _said(*arguments.split()) == said


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
