"""`vecveil learn`: from a concept and texts to a veil."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vecveil.cli.console import output, progress_bar
from vecveil.cli.options import (
    FILE,
    chosen_ledger,
    contrast_option,
    ledger_option,
    no_ledger_option,
    one_of_these,
    setting_of,
    text_options,
)
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import SHAPE_LEARNERS
from vecveil.shapes.registry import DEFAULT_SHAPE

if TYPE_CHECKING:
    from vecveil.audit.frontier import Target


@click.command(short_help="Learn a veil for a concept.")
@click.argument("concept_file", metavar="CONCEPT", type=FILE)
@click.argument("texts_file", metavar="[TEXTS]", type=FILE, required=False)
@click.option(
    "--public",
    "public_file",
    type=FILE,
    metavar="TEXTS",
    help="Learn on these texts, which are public or made up, in place of private ones: the veil then tells nothing of "
    "your texts.",
)
@click.option("--out", required=True, type=FILE, metavar="VEIL", help="Folder to write the veil to.")
@text_options
@click.option(
    "--embedder",
    default="minilm",
    show_default=True,
    help="minilm, mpnet, a sentence-transformers name or folder (openvino: before it is quicker), openai:MODEL[@URL], "
    "precomputed:FILE@MODEL.",
)
@click.option("--shape", default=DEFAULT_SHAPE, show_default=True, help=one_of_these("Shape learner", SHAPE_LEARNERS))
@click.option("--preset", help="Named settings of the shape learner, such as 'paper' (as printed) or 'working'.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="One setting of the shape learner, such as penalty=0.3.",
)
@click.option("--mechanism", default="mahalanobis", show_default=True, help=one_of_these("Mechanism", MECHANISMS))
@contrast_option
@click.option(
    "--fill/--no-fill",
    default=True,
    show_default=True,
    help="Estimate what is left out of a release from what is in it, where that helps search. Free of charge.",
)
@click.option(
    "--keep-utility",
    type=float,
    metavar="SHARE",
    help="Find shape and budget that keep this share of the undefended utility, such as 0.97, and leak least.",
)
@click.option(
    "--max-leakage",
    type=float,
    metavar="SHARE",
    help="Find shape and budget with the most utility at which --attack reads no more than this share.",
)
@click.option(
    "--attack",
    metavar="NAME[:PRIOR][,SETTING=VALUE]",
    help="What leakage is measured by when a target is given.  [default: mlc, quickly trained]",
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="NAME[:FILE][,SETTING=VALUE]",
    help="What utility is measured by when a target is given.  [default: search in TEXTS, apart from the concept]",
)
@click.option("--epsilon", type=float, metavar="E", help="Literal budget to keep in the veil.")
@click.option("--seed", default=0, show_default=True, help="Seed of the learner. Noise is never seeded by it.")
@click.option("--cache", type=FILE, metavar="DIR", help="Keep clean embeddings here. As sensitive as the texts.")
@click.option("--drop-empty", is_flag=True, help="Leave out texts in which nothing but the concept stands.")
@click.option("--allow-everywhere", is_flag=True, help="Accept a concept that every text holds.")
@click.option("--keep-concept", is_flag=True, help="Write the concept, with its private terms, into the veil.")
@click.option("--overwrite", is_flag=True, help="Replace a veil of that name.")
@ledger_option
@no_ledger_option
def learn(
    *,
    concept_file: Path,
    texts_file: Path | None,
    public_file: Path | None,
    out: Path,
    text_column: str,
    annotations_column: str | None,
    skip_empty: bool,
    settings: tuple[str, ...],
    keep_utility: float | None,
    max_leakage: float | None,
    attack: str | None,
    tasks: tuple[str, ...],
    overwrite: bool,
    ledger: str | None,
    no_ledger: bool,
    **choices: Any,
) -> None:
    """Learn which directions of an embedding model carry CONCEPT, a TOML file, from TEXTS.

    TEXTS is Parquet, Arrow, JSONL, CSV, TSV or plain lines, and must hold texts with the concept and texts without.
    What is learned on private texts is a release of its own, and is recorded in the ledger; with --public it is none.
    """
    from vecveil.artifacts.folder import require_free
    from vecveil.audit.frontier import learn_to_target
    from vecveil.cli.calibration import calibration_table
    from vecveil.cli.show import show_veil
    from vecveil.concepts import load_concept
    from vecveil.concepts.content_words import ContentWords
    from vecveil.veil import learn as learn_veil
    from vecveil.veil import read_passages
    from vecveil.veil.recording import opened
    from vecveil.veil.veil import KIND

    require_free(out, KIND, overwrite=overwrite)
    if (texts_file is None) == (public_file is None):
        raise InvalidInputError(
            "name the texts to learn on, either private ones (TEXTS) or public ones (--public TEXTS), "
            f"got {'neither' if texts_file is None else 'both'}"
        )
    target = _target(keep_utility, max_leakage, attack, tasks, choices)
    where = None if public_file is not None else chosen_ledger(ledger, no_ledger=no_ledger)
    parsed = dict(setting_of(setting) for setting in settings)
    concept = load_concept(concept_file)
    if isinstance(concept, ContentWords):
        # Every text holds some of them, and some hold nothing else.
        choices.update(allow_everywhere=True, drop_empty=True)
    passages = read_passages(
        texts_file or public_file or "",
        text_column=text_column,
        annotations_column=annotations_column,
        skip_empty=skip_empty,
    )
    # Opened before the work: hours of learning must not end in a ledger that can't be written.
    with nullcontext() if where is None else opened(where) as book:
        known = {"public": public_file is not None, "ledger": book, "progress": progress_bar, **choices}
        if target is None:
            veil, found = learn_veil(concept, passages, settings=parsed, **known), None
        else:
            veil, found = learn_to_target(concept, passages, target, settings=parsed, **known)
    veil.save(out, overwrite=overwrite)
    show_veil(veil)
    if found is not None:
        output().print(calibration_table(found))
        if not tasks:
            click.echo(
                "utility is search apart from the concept; what an audit calls neighbours counts texts that were near "
                "because of the concept too, and falls further",
                err=True,
            )
    click.echo(f"veil written to {out}", err=True)


def _target(
    keep_utility: float | None,
    max_leakage: float | None,
    attack: str | None,
    tasks: tuple[str, ...],
    choices: dict[str, Any],
) -> Target | None:
    """Return the target that the options name; None where they name none."""
    from vecveil.audit.frontier import Target

    if keep_utility is None and max_leakage is None:
        if attack or tasks:
            raise InvalidInputError("--attack and --task go with --keep-utility or --max-leakage, got neither")
        return None
    if choices["epsilon"] is not None:
        raise InvalidInputError(f"a target finds the budget, so it takes no --epsilon, got {choices['epsilon']!r}")
    return Target(
        keep_utility=keep_utility,
        max_leakage=max_leakage,
        tasks=tasks,
        **({} if attack is None else {"attack": attack}),
    )
