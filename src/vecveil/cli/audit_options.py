"""The options of `vecveil audit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from vecveil.accounting import SCALES
from vecveil.attacks import ATTACKS
from vecveil.cli.options import FILE, one_of_these
from vecveil.cli.several import SeveralNumbers
from vecveil.concepts.rewriting import REWRITERS

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--out", required=True, type=FILE, metavar="DIR", help="Folder for results; a stopped audit goes on in it."
    ),
    click.option(
        "--concept",
        "concept_file",
        type=FILE,
        metavar="CONCEPT",
        help="What is private.  [default: what the veil keeps, or the one concept file beside it that fits]",
    ),
    click.option(
        "--attack",
        "attacks",
        multiple=True,
        metavar="SPEC",
        help=one_of_these("NAME[:PRIOR][,setting=value]", ATTACKS)
        + " The concept probes, nearest and averaging always run.",
    ),
    click.option(
        "--task",
        "tasks",
        multiple=True,
        metavar="SPEC",
        help="neighbours[:FILE], sts:FILE, retrieval:DIR or mteb:NAME, each with settings such as "
        ",protected=documents.  [default: neighbours]",
    ),
    click.option(
        "--defence",
        "defences",
        multiple=True,
        metavar="NAME",
        help="What to attack beside unprotected vectors: veil, or a mechanism of plain noise; none for nothing else.  "
        "[default: laplace, purkayastha, veil]",
    ),
    click.option(
        "--baseline",
        "baselines",
        multiple=True,
        metavar="NAME",
        help=one_of_these("Text-level baseline to compare with", REWRITERS),
    ),
    click.option("--epsilon", "epsilons", cls=SeveralNumbers, type=float, metavar="E…", help="Budgets."),
    click.option(
        "--scale",
        type=click.Choice(SCALES),
        default="literal",
        show_default=True,
        help="How to read --epsilon: as privacy loss per unit of distance, or on the axis of the paper's tables "
        "(calibrated, not derived).",
    ),
    click.option(
        "--noise-ratio",
        "noise_ratios",
        cls=SeveralNumbers,
        type=float,
        metavar="R…",
        help="Budgets as length of the noise over the length of an embedding.  [default: the veil's own budget, or "
        "0.5 1 2]",
    ),
    click.option(
        "--seed",
        "seeds",
        cls=SeveralNumbers,
        type=int,
        metavar="N…",
        help="Repetitions, each with its own split, noise and attackers.  [default: 0]",
    ),
    click.option(
        "--releases",
        default=8,
        show_default=True,
        type=click.IntRange(min=1),
        help="Fresh releases of a record that the averaging attack gets; 1 leaves it out.",
    ),
    click.option(
        "--copies",
        default=2,
        show_default=True,
        type=click.IntRange(min=1),
        help="Fresh releases of each training text that attackers learn from.",
    ),
    click.option(
        "--keyed",
        is_flag=True,
        help="Audit noise from a key: a record that is released again is the same, so that averaging gains nothing.",
    ),
    click.option(
        "--near-copies",
        type=float,
        metavar="COSINE",
        help="Texts this near to each other stay on one side of the split, so that no attacker knows a near copy of a "
        "text that it is tested on; 0.75 serves most models.  [default: texts are split one by one]",
    ),
    click.option(
        "--tolerance",
        default=0.2,
        show_default=True,
        type=float,
        help="Share of what an attack reads out of unprotected vectors that may remain for a verdict of pass.",
    ),
    click.option(
        "--judge",
        default="",
        metavar="EMBEDDER",
        help="Embedder, other than the attacked one, that says how near reconstructions come to the texts.",
    ),
    click.option(
        "--examples",
        default=6,
        show_default=True,
        type=click.IntRange(min=0),
        help="Texts that the report shows with what was read of them. They are private; 0 leaves texts out.",
    ),
)


def audit_options(command: Command) -> Command:
    """Add the options of an audit."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
