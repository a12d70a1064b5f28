"""`vecveil sign`: say that a veil is yours."""

from pathlib import Path

import click

from vecveil.cli.console import say
from vecveil.cli.options import FILE, option
from vecveil.files.key_file import read_key
from vecveil.files.signature import public_key, sign_folder
from vecveil.veil import Veil


@click.command(short_help="Sign a veil.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@option("--key FILE", "Key to sign with (see vecveil key).", into="key_file", required=True)
def sign(*, veil_folder: Path, key_file: Path) -> None:
    """Sign VEIL, so that --require-signed takes it and no other.

    A veil decides what is removed, where noise goes and how much. Whoever protects should know that it is yours. Sign
    with a key of its own, and give your public key, which is printed, to those who protect.
    """
    key, veil = read_key(key_file), Veil.load(veil_folder)
    sign_folder(veil_folder, veil.digest(), key)
    say(f"{veil_folder} signed; require it with: --require-signed {public_key(key)}")
