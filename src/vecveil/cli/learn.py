"""`vecveil learn`: from a concept and texts to a veil."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vecveil.cli.console import output, progress_bar
from vecveil.cli.options import (
    FILE,
    budget_options,
    cache_option,
    choose_ledger,
    contrast_option,
    ledger_options,
    list_names,
    parse_setting,
    text_options,
)
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import SHAPE_LEARNERS
from vecveil.shapes.registry import DEFAULT_SHAPE

if TYPE_CHECKING:
    from rich.table import Table

    from vecveil.audit.frontier import Calibration, Target


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
@click.option("--shape", default=DEFAULT_SHAPE, show_default=True, help=list_names("Shape learner", SHAPE_LEARNERS))
@click.option("--preset", help="Named settings of the shape learner, such as 'paper' (as printed) or 'working'.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="One setting of the shape learner, such as penalty=0.3.",
)
@click.option("--mechanism", default="mahalanobis", show_default=True, help=list_names("Mechanism", MECHANISMS))
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
@budget_options
@click.option("--seed", default=0, show_default=True, help="Seed of the learner. Noise is never seeded by it.")
@cache_option
@click.option("--drop-empty", is_flag=True, help="Leave out texts in which nothing but the concept stands.")
@click.option("--allow-everywhere", is_flag=True, help="Accept a concept that every text holds.")
@click.option("--keep-concept", is_flag=True, help="Write the concept, with its private terms, into the veil.")
@click.option("--overwrite", is_flag=True, help="Replace a veil of that name.")
@ledger_options
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
    from vecveil.audit.frontier import learn_to_target
    from vecveil.cli.show import show_veil
    from vecveil.concepts import load_concept
    from vecveil.files.folder import require_free
    from vecveil.ledger import open_ledger
    from vecveil.veil import learn as learn_veil
    from vecveil.veil import read_passages
    from vecveil.veil.ledger_run import locate_ledger
    from vecveil.veil.veil import KIND

    require_free(out, KIND, overwrite=overwrite)
    if (texts_file is None) == (public_file is None):
        raise InvalidInputError(
            "name the texts to learn on, either private ones (TEXTS) or public ones (--public TEXTS), "
            f"got {'neither' if texts_file is None else 'both'}"
        )
    target = _target(keep_utility, max_leakage, attack, tasks, choices)
    where = None if public_file is not None else choose_ledger(ledger, no_ledger=no_ledger)
    parsed = dict(parse_setting(setting) for setting in settings)
    concept = load_concept(concept_file)
    passages = read_passages(
        texts_file or public_file or "",
        text_column=text_column,
        annotations_column=annotations_column,
        skip_empty=skip_empty,
    )
    if where is not None:
        # Opened before the work: hours of learning must not end in a ledger that can't be written.
        open_ledger(locate_ledger(where)).close()
    choices |= {"public": public_file is not None, "ledger": where, "progress": progress_bar}
    if target is None:
        veil, found = learn_veil(concept, passages, settings=parsed, **choices), None
    else:
        veil, found = learn_to_target(concept, passages, target, settings=parsed, **choices)
    veil.save(out, overwrite=overwrite)
    show_veil(veil)
    if found is not None:
        output().print(_calibration_table(found))
        if not tasks:
            click.echo(
                "utility is search apart from the concept; what an audit calls neighbors counts texts that were near "
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
    for name in ("epsilon", "noise_ratio", "paper_epsilon"):
        if choices[name] is not None:
            raise InvalidInputError(f"a target finds the budget, so it takes no {name}, got {choices[name]!r}")
    return Target(
        keep_utility=keep_utility,
        max_leakage=max_leakage,
        tasks=tasks,
        **({} if attack is None else {"attack": attack}),
    )


def _calibration_table(found: Calibration) -> Table:
    """Return the frontier as a table, with the chosen point marked."""
    from rich.table import Table

    table = Table(
        title=f"frontier by {found.utility}, under {found.attack}; unprotected vectors leak {found.undefended:.1%}",
        title_justify="left",
        box=None,
    )
    for name in ("", "utility kept", "directions left out", "noise ratio", "leakage", "by guessing"):
        table.add_column(name, justify="right")
    for number, point in enumerate(found.points):
        choice = point.choice
        table.add_row(
            "→" if number == found.chosen else "",
            f"{choice.level:.1%}",
            str(choice.directions or 0),
            f"{choice.noise_ratio or 0:.3g}",
            f"{point.leakage:.1%}",
            f"{point.chance:.1%}",
        )
    return table
