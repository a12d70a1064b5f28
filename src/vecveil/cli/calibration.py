"""How the command line shows what a target came down to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from vecveil.audit.frontier import Calibration


def calibration_table(found: Calibration) -> Table:
    """Return the frontier as a table, with the chosen point marked."""
    from rich.table import Table

    table = Table(
        title=f"frontier by {found.utility}, under {found.attack}; unprotected vectors leak {found.undefended:.1%}",
        title_justify="left",
        box=None,
    )
    for name in ("", "utility kept", "directions left out", "noise ratio", "leakage", "by guessing"):
        table.add_column(name, justify="right")
    for number, point in enumerate(found.points):
        choice = point.choice
        table.add_row(
            "→" if number == found.chosen else "",
            f"{choice.level:.1%}",
            str(choice.directions or 0),
            f"{choice.noise_ratio or 0:.3g}",
            f"{point.leakage:.1%}",
            f"{point.chance:.1%}",
        )
    return table
