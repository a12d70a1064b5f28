"""`vecveil guarantee`: state what a veil promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vecveil.cli.options import FILE, budget_options, grid_option


@click.command(short_help="State what a veil guarantees.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@budget_options
@grid_option
@click.option(
    "--releases",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Releases of each record with fresh noise that the exact figures are for.",
)
def guarantee(*, veil_folder: Path, **settings: Any) -> None:
    """State what VEIL guarantees at a budget: distance and unit, assumptions, readings of the budget, warnings."""
    from vecveil.veil import Veil

    click.echo(str(Veil.load(veil_folder).guarantee(**settings)))
