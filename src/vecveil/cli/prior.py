"""`vecveil prior`: train a generative attack on public sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vecveil.cli.console import progress_bar
from vecveil.cli.options import FILE, parse_setting
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from vecveil.attacks.checkpoint import TrainingState
    from vecveil.attacks.generation.generative import GenerativeAttack


@click.command(short_help="Train a generative attack on public sentences, for audits to start from.")
@click.argument("attack_name", metavar="ATTACK")
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@click.option("--out", required=True, type=FILE, metavar="DIR", help="Folder to write the prior to, or to go on with.")
@click.option("--embedder", default="minilm", show_default=True, help="Whose vectors it learns to read; as in learn.")
@click.option("--text-column", default="text", show_default=True, metavar="COLUMN", help="Column of texts.")
@click.option("--skip-empty", is_flag=True, help="Leave out rows that have no text.")
@click.option("--sentences", type=int, metavar="N", help="Learn the first N texts only.")
@click.option("--hours", type=float, metavar="H", help="Stop after H hours of training, over all sittings.")
@click.option("--epochs", default=3, show_default=True, metavar="N", help="Stop after N passes over the texts.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="One setting of the attack.")
@click.option("--cache", type=FILE, metavar="DIR", help="Keep embeddings here, so that a second run starts at once.")
@click.option("--seed", default=0, show_default=True, help="Seed of weights and batches.")
def prior(
    *,
    attack_name: str,
    texts_file: Path,
    out: Path,
    embedder: str,
    text_column: str,
    skip_empty: bool,
    sentences: int | None,
    hours: float | None,
    epochs: int,
    settings: tuple[str, ...],
    cache: Path | None,
    seed: int,
) -> None:
    """Train ATTACK (geia or vec2text) on public TEXTS, one sentence per row.

    A run that was stopped, by Ctrl-C or harder, goes on when the same command is given again. From the first checkpoint
    on, the folder can be used as it is: `--set prior=DIR` in an audit.
    """
    from vecveil.attacks.generation.prior_training import train_prior
    from vecveil.embedders import resolve_embedder
    from vecveil.veil import read_passages

    if sentences is not None:
        at_least(sentences, 1, "sentences")
    attack = _generative(attack_name, settings)
    passages = read_passages(texts_file, text_column=text_column, skip_empty=skip_empty)
    found = train_prior(
        attack,
        [passage.text for passage in passages[:sentences]],
        resolve_embedder(embedder, cache=cache),
        out,
        hours=hours,
        epochs=epochs,
        seed=seed,
        on_round=_print_round,
        progress=progress_bar,
    )
    for name, reached in found.training.items():
        click.echo(f"{name}: {reached['steps']:,} steps, held-out loss {reached['held_out_loss']:.3f} nats per piece")
    click.echo(f"prior written to {out}", err=True)


def _generative(name: str, settings: tuple[str, ...]) -> GenerativeAttack:
    from vecveil.attacks import build_attack
    from vecveil.attacks.generation.generative import GenerativeAttack

    attack = build_attack(name, dict(parse_setting(setting) for setting in settings))
    if not isinstance(attack, GenerativeAttack):
        raise InvalidInputError(f"the attack {name!r} writes no texts, so it needs no prior; geia and vec2text do")
    return attack


def _print_round(name: str, state: TrainingState) -> None:
    click.echo(f"{name}: {state.step:,} steps, {state.seconds / 60:.0f} minutes, best loss {-state.best:.3f}", err=True)
