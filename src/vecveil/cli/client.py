"""`vecveil client`: add clients of the gateway."""

from pathlib import Path
from typing import Any

import click

from vecveil.cli.console import say
from vecveil.cli.options import FILE, option
from vecveil.service.clients import add_client

AXIS = "The same on the axis of the paper's tables."


@click.group()
def client() -> None:
    """Bearer keys of the gateway's clients."""


@client.command("new")
@click.argument("clients_file", metavar="FILE", type=FILE)
@click.argument("name")
@option("--veil VEIL", "A veil of its own.  [default: the gateway's]")
@option("--epsilon E", "A literal budget of its own.  [default: its veil's]", type=float)
@option("--noise-ratio R", "The same as a noise ratio.", type=float)
@option("--paper-epsilon E", AXIS, type=float)
@option("--query-epsilon E", "A budget for queries.  [default: that of documents]", type=float)
@option("--query-noise-ratio R", "The same as a noise ratio.", type=float)
@option("--query-paper-epsilon E", AXIS, type=float)
@option("--documents", "Documents.", type=click.Choice(["protect", "refuse"]), default="protect")
@option("--queries", "Queries.", type=click.Choice(["protect", "clean", "refuse"]), default="protect")
@option(
    "--rerank",
    "Order documents, sealed ones too, by their clean vectors; the scores tell what these are.",
    type=click.Choice(["allow", "refuse"]),
    default="refuse",
)
@option("--texts-per-minute N", "Texts it may send.  [default: the gateway's limit]", type=float)
@option("--collection NAME", "What its limits are kept for in the ledger.  [default: its name]")
def new_client(*, clients_file: Path, name: str, veil: Path | None, **settings: Any) -> None:
    """Add client NAME to FILE and print its bearer key, once: only a hash of it is kept."""
    key = add_client(clients_file, name, veil=None if veil is None else str(veil), **settings)
    click.echo(key)
    say(f"{name} was added to {clients_file}; the key above is shown this once")
