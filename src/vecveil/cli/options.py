"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vecveil.accounting import SCALES
from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry
from vecveil.mechanisms.grid import GRIDS

if TYPE_CHECKING:
    from vecveil.accounting import GuaranteeSheet
    from vecveil.veil import Veil

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
"""Existence is checked by the library, whose errors say more."""


contrast_option = click.option(
    "--contrast",
    type=click.Choice(["removal", "replacement"]),
    default="removal",
    show_default=True,
    help="Pair a text with itself without the concept, or with another of its category in its place.",
)


def one_of_these(what: str, registry: Registry[Any]) -> str:
    """Return the help of an option that takes a registered name."""
    return f"{what}: {', '.join(registry.names())}."


class Stopped(click.Abort):
    """Ctrl-C, and what is left."""


def budget_options(command: Command) -> Command:
    """Add the three ways to name a budget."""
    for option in (
        click.option(
            "--noise-ratio",
            type=float,
            metavar="R",
            help="Instead of --epsilon: length of the noise over the length of an embedding.",
        ),
        click.option(
            "--scale",
            type=click.Choice(SCALES),
            default="literal",
            show_default=True,
            help="How to read --epsilon: as privacy loss per unit of distance, or on the axis of the paper's tables "
            "(calibrated, not derived).",
        ),
        click.option(
            "--epsilon",
            type=float,
            metavar="E",
            help="Privacy budget, per unit of the guarantee's distance; smaller is more private. Noise as long as the "
            "embedding takes about as many as there are dimensions.",
        ),
    ):
        command = option(command)
    return command


ledger_option = click.option(
    "--ledger",
    metavar="WHERE",
    help="Ledger that releases are recorded in: a file, or postgresql://…  [default: $VECVEIL_LEDGER, or one for this "
    "user]",
)

no_ledger_option = click.option("--no-ledger", is_flag=True, help="Record nothing. No budget is then kept.")

grid_option = click.option(
    "--grid",
    type=click.Choice(GRIDS),
    default="float32",
    show_default=True,
    help="What protected vectors are rounded to, and the type they are written in.",
)


def chosen_ledger(ledger: str | None, *, no_ledger: bool) -> str | None:
    """Return where to record, or None where nothing is to be."""
    if no_ledger and ledger is not None:
        # What was given is not shown: it may be an address with a password in it.
        raise InvalidInputError("give --ledger or --no-ledger, not both")
    if no_ledger:
        return None
    return "default" if ledger is None else ledger


def budget_lines(sheet: GuaranteeSheet) -> list[str]:
    """Return what a release was made with, what there is to fear, and where all that is promised can be read."""
    return [
        str(sheet.dials),
        *(f"Warning: {warning}." for warning in sheet.warnings),
        "what is promised, and under which assumptions: vecveil guarantee",
    ]


def chosen_epsilon(veil: Veil, *, epsilon: float | None, scale: str, noise_ratio: float | None) -> float:
    """Return the literal epsilon that the options ask for, or the one kept in the veil."""
    if epsilon is not None and noise_ratio is not None:
        raise InvalidInputError(f"give --epsilon or --noise-ratio, not both (got {epsilon!r} and {noise_ratio!r})")
    if epsilon is None and scale != "literal":
        raise InvalidInputError(f"--scale {scale} says how to read --epsilon, which is not given")
    if noise_ratio is not None:
        return veil.epsilon_for(noise_ratio=noise_ratio)
    if epsilon is not None:
        return veil.epsilon_for(paper_epsilon=epsilon) if scale == "paper" else epsilon
    if veil.epsilon is None:
        raise InvalidInputError("name a budget with --epsilon or --noise-ratio: this veil was saved without one")
    return veil.epsilon


def text_options(command: Command) -> Command:
    """Add the options that say where texts and annotations stand in a file."""
    for option in (
        click.option("--skip-empty", is_flag=True, help="Leave out rows that have no text."),
        click.option(
            "--annotations",
            "annotations_column",
            metavar="COLUMN",
            help="Column of annotated spans, lists of {start, end, label}.  [default: entities, if there is one]",
        ),
        click.option("--text-column", default="text", show_default=True, metavar="COLUMN", help="Column of texts."),
    ):
        command = option(command)
    return command


def setting_of(text: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE; the value is JSON where it can be, a word otherwise."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidInputError(f"--set takes NAME=VALUE, got {text!r}")
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = value
    return name.replace("-", "_"), tuple(parsed) if isinstance(parsed, list) else parsed
