"""`vecveil protect --engine`: the same work on Ray or Spark."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from vecveil.integrations.parts import Columns
    from vecveil.veil import Guard


def refuse_with_engine(engine: str, options: Mapping[str, object]) -> None:
    """Raise where options were given that an engine has no use for."""
    useless = [name for name, value in options.items() if value is not None]
    if useless:
        raise InvalidInputError(f"--engine {engine} does not take {', '.join(useless)}")


def protect_on_engine(engine: str, source: Path, out: Path, guard: Guard, columns: Columns, *, overwrite: bool) -> None:
    """Protect Parquet files into a folder, and say what was done."""
    if not source.exists():
        raise InvalidInputError(f"there is no file {source}")
    if source.suffix != ".parquet" and not source.is_dir():
        raise InvalidInputError(f"--engine {engine} reads Parquet, a file or a folder of them, got {source}")
    protect_parquet = import_module(f"vecveil.integrations.{engine}").protect_parquet
    rows = protect_parquet(source, out, guard, columns, overwrite=overwrite)
    click.echo(f"{rows:,} rows protected on {engine}, written to {out}", err=True)
    click.echo(str(guard.opened_veil.guarantee(epsilon=guard.epsilon, grid=guard.grid).dials), err=True)
