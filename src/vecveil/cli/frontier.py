"""`vecveil frontier`: compare defenses at equal utility."""

from pathlib import Path
from typing import Any

import click

from vecveil.audit import Experiment
from vecveil.audit.frontier import FrontierPlan, prepare_frontier
from vecveil.audit.utility import ENDINGS
from vecveil.cli import options
from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.options import FILE, NumbersCommand, NumbersOption, option
from vecveil.concepts import load_concept
from vecveil.reports.frontier import frontier_table, write_frontier
from vecveil.veil import read_passages


@click.command(cls=NumbersCommand, short_help="Compare defenses by what leaks at equal utility.")
@click.argument("concept_file", metavar="CONCEPT", type=FILE)
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@option("--out DIR", "Folder for results, table and plot.", required=True)
@option(
    "--shape NAME[:PRESET][,SETTING=VALUE]",
    "A defense to compare; repeat it for more. uniform is plain Laplace noise, hard-concrete:paper the paper's "
    "method. ,substitution=remove takes private words out first, ,substitution=randomize,word_epsilon=4 swaps them at "
    "random; otherwise they stay.  [default: uniform, hard-concrete:paper, canonical, canonical,substitution=remove]",
    into="contenders",
    multiple=True,
)
@option(
    "--attack NAME[:PRIOR][,SETTING=VALUE]",
    "An attack on each defense; repeat it for more. The strongest counts.  [default: mlc, nearest]",
    into="attacks",
    multiple=True,
)
@option(
    "--task NAME[:FILE][,SETTING=VALUE]",
    "What search is measured by, such as retrieval:DIR with judged queries; repeat it for more.  [default: "
    "finding each of TEXTS by some of its own words]",
    into="tasks",
    multiple=True,
)
@option(
    "--measure",
    "Which searches a level is a share of: search takes all, unnamed those that don't name the concept, reranked "
    "all, after the owner has put 100 candidates in their exact order.  [default: search where a task is named, else "
    "unnamed]",
    type=click.Choice(list(ENDINGS)),
)
@option(
    "--level SHARE…",
    "How much of the search must be kept, as shares of what unprotected vectors find: 0.95 is 95 %. Each defense "
    "gets as much noise as it can have there.  [default: 0.99 0.97 0.95 0.9]",
    into="levels",
    cls=NumbersOption,
    type=float,
)
@option(
    "--seed N…",
    "Run everything once for each, with other splits and noise.  [default: 0 1 2 3 4]",
    into="seeds",
    cls=NumbersOption,
    type=int,
)
@option(
    "--guide ATTACK",
    "A quick attack that decides how many directions a defense leaves out: as many as leave it the least to read. "
    "Repeat it for more; fill-in-the-blank may be one.  [default: ridge, nearest, and where words stay "
    "fill-in-the-blank]",
    into="guides",
    multiple=True,
)
@option(
    "--near-copies COSINE",
    "Keep texts that are this near to each other together, so that no attack is trained on a near copy of a text "
    "that it is tested on.  [default: texts are split one by one]",
    type=float,
)
@option("--embedder", "As for learn.", default="minilm")
@options.cache_option
@options.text_options
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
    """Compare defenses of CONCEPT in TEXTS: how much do attacks still read, where each keeps as much of the search?

    The table also has how often someone is right who has a text but for one private value, and what unprotected vectors
    and plain redaction come to. Stop it when you like: the same command goes on where it was.
    """
    plan = FrontierPlan(**{name: value for name, value in settings.items() if value})
    concept = load_concept(concept_file)
    passages = read_passages(
        texts_file, text_column=text_column, annotations_column=annotations_column, skip_empty=skip_empty
    )
    experiment = Experiment(out)
    experiment.check()
    work = prepare_frontier(plan, concept, passages, experiment, embedder=embedder, cache=cache, progress=progress_bar)
    with options.stop_with(f"What was computed is kept in {out}; repeat the command to go on."):
        result = work.run()
    write_frontier(result, out)
    output().print(frontier_table(result).markdown(), markup=False)
    notices().print(f"table, plot and results written to {out}")
