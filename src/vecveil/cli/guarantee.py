"""`vecveil guarantee`: what is promised, in which distance, under which assumptions."""

from __future__ import annotations

from pathlib import Path

import click

from vecveil.cli.options import FILE, budget_options, chosen_epsilon, grid_option


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
def guarantee(
    *, veil_folder: Path, epsilon: float | None, scale: str, noise_ratio: float | None, grid: str, releases: int
) -> None:
    """State what VEIL guarantees at a budget: the distance and its unit, the assumptions, the dials, the warnings."""
    from vecveil.veil import Veil

    veil = Veil.load(veil_folder)
    literal = chosen_epsilon(veil, epsilon=epsilon, scale=scale, noise_ratio=noise_ratio)
    click.echo(str(veil.guarantee(epsilon=literal, grid=grid, releases=releases)))
