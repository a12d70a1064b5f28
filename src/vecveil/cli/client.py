"""`vecveil client`: add clients of the gateway."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vecveil.cli.options import FILE


@click.group()
def client() -> None:
    """Bearer keys of the gateway's clients."""


@client.command("new")
@click.argument("clients_file", metavar="FILE", type=FILE)
@click.argument("name")
@click.option("--veil", type=FILE, metavar="VEIL", help="A veil of its own.  [default: the gateway's]")
@click.option("--epsilon", type=float, metavar="E", help="A literal budget of its own.  [default: its veil's]")
@click.option("--noise-ratio", type=float, metavar="R", help="The same as a noise ratio.")
@click.option("--paper-epsilon", type=float, metavar="E", help="The same on the axis of the paper's tables.")
@click.option("--query-epsilon", type=float, metavar="E", help="A budget for queries.  [default: that of documents]")
@click.option("--query-noise-ratio", type=float, metavar="R", help="The same as a noise ratio.")
@click.option("--query-paper-epsilon", type=float, metavar="E", help="The same on the axis of the paper's tables.")
@click.option(
    "--documents", type=click.Choice(["protect", "refuse"]), default="protect", show_default=True, help="Documents."
)
@click.option(
    "--queries",
    type=click.Choice(["protect", "clean", "refuse"]),
    default="protect",
    show_default=True,
    help="Queries.",
)
@click.option(
    "--rerank",
    type=click.Choice(["allow", "refuse"]),
    default="refuse",
    show_default=True,
    help="Order documents, sealed ones too, by their clean vectors; the scores tell what these are.",
)
@click.option("--texts-per-minute", type=float, metavar="N", help="Texts it may send.  [default: the gateway's limit]")
@click.option("--collection", metavar="NAME", help="What its limits are kept for in the ledger.  [default: its name]")
def new_client(*, clients_file: Path, name: str, veil: Path | None, **settings: Any) -> None:
    """Add client NAME to FILE and print its bearer key, once: only a hash of it is kept."""
    from vecveil.service.clients import add_client

    key = add_client(clients_file, name, veil=None if veil is None else str(veil), **settings)
    click.echo(key)
    click.echo(f"{name} was added to {clients_file}; the key above is shown this once", err=True)
