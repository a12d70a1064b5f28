"""`vecveil key`: the secret that keyed noise is derived from."""

from pathlib import Path

import click

from vecveil.cli.console import say
from vecveil.cli.options import FILE
from vecveil.core.key import Key
from vecveil.files.key_file import read_key, write_key
from vecveil.files.signature import public_key


@click.group(short_help="Make a key for noise that repeats itself.")
def key() -> None:
    """Make and name keys.

    With a key, `vecveil protect --key` gives a record the same noise each time, so that protecting it again releases
    nothing new. Whoever has the key can check guesses of a text against its release: keep it where you keep the texts.
    """


@key.command(short_help="Make a new key.")
@click.argument("path", metavar="FILE", type=FILE)
def new(path: Path) -> None:
    """Write a new random key to FILE, which no one but you can read. An existing file is never replaced."""
    made = Key.new()
    write_key(made, path)
    say(f"key {made.fingerprint} written to {path}; keep it as safe as the texts, and a copy of it")


@key.command(short_help="Show the public key, for signatures.")
@click.argument("path", metavar="FILE", type=FILE)
def public(path: Path) -> None:
    """Print the public key of the key in FILE, by which others check what it signed (see vecveil sign)."""
    click.echo(public_key(read_key(path)))


@key.command(short_help="Show which key is in a file.")
@click.argument("path", metavar="FILE", type=FILE)
def show(path: Path) -> None:
    """Print the fingerprint of the key in FILE, as outputs made with it show it; it tells nothing of the key."""
    click.echo(read_key(path).fingerprint)
