"""`vecveil serve`: serve OpenAI's embeddings API, protected."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from vecveil.cli import options
from vecveil.cli.console import say
from vecveil.cli.options import AT_LEAST_ONE, FILE, flag, option
from vecveil.core.errors import needs_extra
from vecveil.veil import Veil


def _to_bytes(_context: click.Context, _option: click.Parameter, mebibytes: int) -> int:
    return mebibytes * 2**20


SIZE: dict[str, Any] = {"type": AT_LEAST_ONE, "callback": _to_bytes}
"""An option in MiB, and a parameter in bytes."""


@click.command(short_help="Serve protected embeddings by OpenAI's API.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@options.guard_options
@option("--host", "Address to listen on.", default="127.0.0.1")
@option("--port", "Port; 0 takes a free one.", default=8000, type=click.IntRange(0, 65535))
@option("--clients FILE", "Who may ask (see vecveil client).", into="clients_file")
@option("--upstream URL", "An OpenAI-compatible server to get vectors from, up to and with /v1.")
@option("--upstream-model NAME", "The model's name there.  [default: the veil's]")
@option("--upstream-key-env", "Variable with the key for it.", default="OPENAI_API_KEY")
@option("--timeout", "Seconds to wait for it.", default=60.0)
@option(
    "--key FILE",
    "Derive noise from this key.  [default: one of the gateway's own, made at the first start]",
    into="key_file",
)
@option("--seal-key FILE", "Seal and rerank with this key.  [default: that of noise]")
@flag("--fresh-noise", "New noise at every request: repeating one then costs privacy.")
@options.grid_option
@option("--max-body", "Longest request, in MiB.", into="body_bytes", default=32, **SIZE)
@option(
    "--max-held",
    "Requests that are worked on at the same time, in MiB; a client may take half.",
    into="held_bytes",
    default=256,
    **SIZE,
)
@option("--max-text", "Longest text, in characters.", into="text_characters", default=100_000, type=AT_LEAST_ONE)
@option(
    "--texts-per-minute N",
    "Texts that a client may send, where it has no limit of its own; a long one counts once for each 4,000 characters.",
    default=10_000.0,
)
@flag("--metrics-clients", "Name clients in /metrics, and ask for a bearer key there.")
@option("--tokens", "What arrays of tokens are encoded by.", into="encoding", default="cl100k_base")
def serve(
    *, veil_folder: Path, host: str, port: int, clients_file: Path | None, key_file: Path | None, **settings: Any
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
    served = {entry.name: settings.pop(entry.name) for entry in fields(Settings)}
    clients = Clients.everybody() if clients_file is None else read_clients(clients_file)
    require_guarded(clients, host)
    guard = options.open_guard(veil_folder, key_file, own_key=_own_key, **settings)
    gateway = Gateway.for_clients(clients, guard, Settings(**served))
    say(*options.budget_lines(options.guard_sheet(guard)))
    if clients.open:
        say("Warning: no bearer keys are set: every program on this machine may ask")
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
        say(f"a key for this veil was made: {path}; keep a copy of it in a safe place")
    return path
