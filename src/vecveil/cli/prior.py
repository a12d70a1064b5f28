"""`vecveil prior`: train a generative attack on public sentences."""

from pathlib import Path
from typing import Any

import click

from vecveil.attacks import build_attack
from vecveil.attacks.checkpoint import TrainingState
from vecveil.attacks.generation.generative import GenerativeAttack
from vecveil.attacks.generation.prior_training import train_prior
from vecveil.cli.console import progress_bar, say
from vecveil.cli.options import FILE, flag, option, parse_setting
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import resolve_embedder
from vecveil.veil import read_passages


@click.command(short_help="Train a generative attack on public sentences, for audits to start from.")
@click.argument("attack_name", metavar="ATTACK")
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@option("--out DIR", "Folder to write the prior to, or to go on with.", required=True)
@option("--embedder", "Whose vectors it learns to read; as in learn.", default="minilm")
@option("--text-column COLUMN", "Column of texts.", default="text")
@flag("--skip-empty", "Leave out rows that have no text.")
@option("--sentences N", "Learn the first N texts only.", type=int)
@option("--hours H", "Stop after H hours of training, over all sittings.", type=float)
@option("--epochs N", "Stop after N passes over the texts.", default=3)
@option("--set NAME=VALUE", "One setting of the attack.", into="settings", multiple=True)
@option("--cache DIR", "Keep embeddings here, so that a second run starts at once.")
@option("--seed", "Seed of weights and batches.", default=0)
def prior(
    *,
    attack_name: str,
    texts_file: Path,
    out: Path,
    embedder: str,
    text_column: str,
    skip_empty: bool,
    sentences: int | None,
    settings: tuple[str, ...],
    cache: Path | None,
    **effort: Any,
) -> None:
    """Train ATTACK (geia or vec2text) on public TEXTS, one sentence per row.

    A run that was stopped, by Ctrl-C or harder, goes on when the same command is given again. From the first checkpoint
    on, the folder can be used as it is: `--set prior=DIR` in an audit.
    """
    if sentences is not None:
        at_least(sentences, 1, "sentences")
    attack = _generative(attack_name, settings)
    passages = read_passages(texts_file, text_column=text_column, skip_empty=skip_empty)
    texts = [passage.text for passage in passages[:sentences]]
    model = resolve_embedder(embedder, cache=cache)
    found = train_prior(attack, texts, model, out, on_round=_print_round, progress=progress_bar, **effort)
    for name, reached in found.training.items():
        click.echo(f"{name}: {reached['steps']:,} steps, held-out loss {reached['held_out_loss']:.3f} nats per piece")
    say(f"prior written to {out}")


def _generative(name: str, settings: tuple[str, ...]) -> GenerativeAttack:
    attack = build_attack(name, dict(parse_setting(setting) for setting in settings))
    if not isinstance(attack, GenerativeAttack):
        raise InvalidInputError(f"the attack {name!r} writes no texts, so it needs no prior; geia and vec2text do")
    return attack


def _print_round(name: str, state: TrainingState) -> None:
    say(f"{name}: {state.step:,} steps, {state.seconds / 60:.0f} minutes, best loss {-state.best:.3f}")
