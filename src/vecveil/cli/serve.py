"""`vecveil serve`: serve OpenAI's embeddings API, protected."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vecveil.cli.options import FILE, budget_lines, grid_option, guard_options, open_guard
from vecveil.core.errors import needs_extra

if TYPE_CHECKING:
    from vecveil.veil import Veil


def _to_bytes(_context: click.Context, _option: click.Parameter, mebibytes: int) -> int:
    return mebibytes * 2**20


@click.command(short_help="Serve protected embeddings by OpenAI's API.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@guard_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
@click.option("--clients", "clients_file", type=FILE, metavar="FILE", help="Who may ask (see vecveil client).")
@click.option("--upstream", metavar="URL", help="An OpenAI-compatible server to get vectors from, up to and with /v1.")
@click.option("--upstream-model", metavar="NAME", help="The model's name there.  [default: the veil's]")
@click.option("--upstream-key-env", default="OPENAI_API_KEY", show_default=True, help="Variable with the key for it.")
@click.option("--timeout", default=60.0, show_default=True, help="Seconds to wait for it.")
@click.option(
    "--key",
    "key_file",
    type=FILE,
    metavar="FILE",
    help="Derive noise from this key.  [default: one of the gateway's own, made at the first start]",
)
@click.option("--seal-key", type=FILE, metavar="FILE", help="Seal and rerank with this key.  [default: that of noise]")
@click.option("--fresh-noise", is_flag=True, help="New noise at every request: repeating one then costs privacy.")
@grid_option
@click.option(
    "--max-body",
    "body_bytes",
    default=32,
    show_default=True,
    type=click.IntRange(min=1),
    callback=_to_bytes,
    help="Longest request, in MiB.",
)
@click.option(
    "--max-held",
    "held_bytes",
    callback=_to_bytes,
    default=256,
    show_default=True,
    type=click.IntRange(min=1),
    help="Requests that are worked on at the same time, in MiB; a client may take half.",
)
@click.option(
    "--max-text",
    "text_characters",
    default=100_000,
    show_default=True,
    type=click.IntRange(min=1),
    help="Longest text, in characters.",
)
@click.option(
    "--texts-per-minute",
    default=10_000.0,
    show_default=True,
    metavar="N",
    help="Texts that a client may send, where it has no limit of its own; a long one counts once for each 4,000 "
    "characters.",
)
@click.option("--metrics-clients", is_flag=True, help="Name clients in /metrics, and ask for a bearer key there.")
@click.option(
    "--tokens", "encoding", default="cl100k_base", show_default=True, help="What arrays of tokens are encoded by."
)
def serve(
    *, veil_folder: Path, host: str, port: int, clients_file: Path | None, key_file: Path | None, **options: Any
) -> None:
    """Serve vectors protected with VEIL by OpenAI's embeddings API: /v1/embeddings, /v1/models, /health, /metrics.

    /v1/rerank puts documents, or their seals, into their exact order, for clients that may see clean vectors.

    Vectors come from the veil's own model, which is loaded here, or from another server (--upstream). A model's name
    with :query behind it asks for a query's vector, the name alone for a document's; both are protected unless a client
    has other rules. The same text of the same client gets the same noise again, and every release is recorded.

    What it says at the start is followed by logs: lines of JSON on stderr, without texts, vectors or keys. SIGTERM and
    Ctrl-C let requests in work finish.
    """
    with needs_extra("fastapi", "serve"):
        from vecveil.service.clients import Clients, read_clients
        from vecveil.service.gateway import Gateway, Settings
        from vecveil.service.server import require_guarded
        from vecveil.service.server import serve as run
    served = {entry.name: options.pop(entry.name) for entry in fields(Settings)}
    clients = Clients.everybody() if clients_file is None else read_clients(clients_file)
    require_guarded(clients, host)
    guard = open_guard(veil_folder, key_file, own_key=_own_key, **options)
    gateway = Gateway.for_clients(clients, guard, Settings(**served))
    for line in budget_lines(guard.opened_veil.guarantee(epsilon=guard.release.mechanism.epsilon, grid=guard.grid)):
        click.echo(line, err=True)
    if clients.open:
        click.echo("Warning: no bearer keys are set: every program on this machine may ask", err=True)
    run(gateway, host=host, port=port)


def _own_key(veil: Veil) -> Path:
    """Return the gateway's key for a veil, made at the first start, in the user's data folder."""
    from vecveil.core.folders import data_folder
    from vecveil.core.key import Key
    from vecveil.files.key_file import write_key

    path = data_folder() / "keys" / f"{veil.digest()[:16]}.key"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_key(Key.new(), path)
        click.echo(f"a key for this veil was made: {path}; keep a copy of it in a safe place", err=True)
    return path
