"""`vecveil client`: who may ask the gateway."""

from __future__ import annotations

from pathlib import Path

import click

from vecveil.cli.options import FILE


@click.group()
def client() -> None:
    """Bearer keys of the gateway's clients."""


@client.command("new")
@click.argument("clients_file", metavar="FILE", type=FILE)
@click.argument("name")
@click.option("--veil", type=FILE, metavar="VEIL", help="A veil of its own.  [default: the gateway's]")
@click.option("--noise-ratio", type=float, metavar="R", help="A budget of its own.  [default: its veil's]")
@click.option(
    "--query-noise-ratio", type=float, metavar="R", help="A budget for queries.  [default: that of documents]"
)
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
def new_client(
    *,
    clients_file: Path,
    name: str,
    veil: Path | None,
    noise_ratio: float | None,
    query_noise_ratio: float | None,
    documents: str,
    queries: str,
) -> None:
    """Add client NAME to FILE and print its bearer key, once: only a hash of it is kept."""
    from vecveil.service.clients import add_client

    key = add_client(
        clients_file,
        name,
        veil=None if veil is None else str(veil),
        noise_ratio=noise_ratio,
        query_noise_ratio=query_noise_ratio,
        documents=documents,
        queries=queries,
    )
    click.echo(key)
    click.echo(f"{name} was added to {clients_file}; the key above is shown this once", err=True)
