"""`vecveil frontier`: compare defenses at equal utility."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.options import FILE, NumbersCommand, NumbersOption, Stopped, cache_option, text_options

MEASURES = ("search", "unnamed", "reranked")


@click.command(cls=NumbersCommand, short_help="Compare defenses by what leaks at equal utility.")
@click.argument("concept_file", metavar="CONCEPT", type=FILE)
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@click.option("--out", required=True, type=FILE, metavar="DIR", help="Folder for results, table and plot.")
@click.option(
    "--shape",
    "contenders",
    multiple=True,
    metavar="NAME[:PRESET][,SETTING=VALUE]",
    help="A defense; may be repeated. uniform is plain Laplace noise.  [default: uniform, hard-concrete:paper (the "
    "paper's), canonical, canonical,substitution=remove]",
)
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="NAME[:PRIOR][,SETTING=VALUE]",
    help="An attack; may be repeated. The strongest counts.  [default: mlc, nearest]",
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="NAME[:FILE][,SETTING=VALUE]",
    help="What utility is measured by; may be repeated.  [default: search in TEXTS, apart from the concept]",
)
@click.option(
    "--measure",
    type=click.Choice(list(MEASURES)),
    help="What counts of it: all searches, those that don't name the concept, or all after the owner has reranked.  "
    "[default: search of tasks that are named, else unnamed]",
)
@click.option(
    "--level",
    "levels",
    cls=NumbersOption,
    type=float,
    metavar="U…",
    help="Shares of undefended utility.  [default: 0.99 0.97 0.95 0.9]",
)
@click.option("--seed", "seeds", cls=NumbersOption, type=int, metavar="N…", help="Repetitions.  [default: 0 1 2 3 4]")
@click.option(
    "--guide",
    "guides",
    multiple=True,
    metavar="ATTACK",
    help="A quick attack by which numbers of directions are chosen; the strongest counts, and fill-in-the-blank beside "
    "it.  [default: ridge, nearest]",
)
@click.option(
    "--near-copies",
    type=float,
    metavar="COSINE",
    help="Texts this near to each other stay on one side of every split.  [default: texts are split one by one]",
)
@click.option("--embedder", default="minilm", show_default=True, help="As for learn.")
@cache_option
@text_options
def frontier(
    *,
    concept_file: Path,
    texts_file: Path,
    out: Path,
    embedder: str,
    cache: Path | None,
    text_column: str,
    annotations_column: str | None,
    skip_empty: bool,
    **settings: Any,
) -> None:
    """Compare defenses of CONCEPT in TEXTS by what the strongest attack reads, above chance, at levels of utility.

    Each defense gets as much noise as it can bear at a level; those that leave directions out choose how many in a
    split of their own. Stop it when you like: the same command goes on where it was.
    """
    from vecveil.audit import Experiment
    from vecveil.audit.frontier import FrontierPlan, prepare_frontier
    from vecveil.concepts import load_concept
    from vecveil.reports.frontier import frontier_table, write_frontier
    from vecveil.veil import read_passages

    plan = FrontierPlan(**{name: value for name, value in settings.items() if value})
    concept = load_concept(concept_file)
    passages = read_passages(
        texts_file, text_column=text_column, annotations_column=annotations_column, skip_empty=skip_empty
    )
    experiment = Experiment(out)
    experiment.check()
    work = prepare_frontier(plan, concept, passages, experiment, embedder=embedder, cache=cache, progress=progress_bar)
    try:
        result = work.run()
    except KeyboardInterrupt:
        raise Stopped(f"What was computed is kept in {out}; repeat the command to go on.") from None
    write_frontier(result, out)
    output().print(frontier_table(result).markdown(), markup=False)
    notices().print(f"table, plot and results written to {out}")
