"""`vecveil guarantee`: state what a veil promises."""

from pathlib import Path
from typing import Any

import click

from vecveil.cli.options import AT_LEAST_ONE, FILE, budget_options, grid_option, option
from vecveil.veil import Veil


@click.command(short_help="State what a veil guarantees.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@budget_options
@grid_option
@option(
    "--releases",
    "Releases of each record with fresh noise that the exact figures are for.",
    type=AT_LEAST_ONE,
    default=1,
)
def guarantee(*, veil_folder: Path, **settings: Any) -> None:
    """State what VEIL guarantees at a budget: distance and unit, assumptions, readings of the budget, warnings."""
    click.echo(str(Veil.load(veil_folder).guarantee(**settings)))
