"""`vecveil audit`: attack a veil, and measure search."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vecveil.attacks import ATTACKS
from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.options import (
    FILE,
    NumbersCommand,
    NumbersOption,
    Stopped,
    add_options,
    budgets_options,
    cache_option,
    concept_option,
    embedder_option,
    grid_option,
    list_names,
    text_options,
)
from vecveil.concepts.rewriting import REWRITERS

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from vecveil.audit import AuditResult, Example, Experiment

COLORS = {"pass": "green", "fail": "red", "inconclusive": "yellow"}

EXIT_CODES = {"pass": 0, "fail": 2, "inconclusive": 3}

plan_options = add_options(
    click.option(
        "--attack",
        "attacks",
        multiple=True,
        metavar="SPEC",
        help=list_names("NAME[:PRIOR][,setting=value]", ATTACKS)
        + " Any may have denoiser=mlp or none, and copies=N. Fill-in-the-blank and the concept probes always run.  "
        "[default: mlc, quickly trained, and nearest]",
    ),
    click.option(
        "--task",
        "tasks",
        multiple=True,
        metavar="SPEC",
        help="known-item[:FILE], queries:FILE, retrieval:DIR, neighbors[:FILE], sts:FILE or mteb:NAME, each with "
        "settings such as ,protected=both. The first is the headline.  [default: known-item, neighbors]",
    ),
    click.option(
        "--queries",
        type=FILE,
        metavar="FILE",
        help="Your own queries, without judgments: the same as --task queries:FILE before all others.",
    ),
    click.option(
        "--defense",
        "defenses",
        multiple=True,
        metavar="NAME",
        help="What to attack beside unprotected vectors: veil, sparse (the paper's mask, learned on TEXTS), or a "
        "mechanism of plain noise; none for nothing else.  "
        "[default: laplace, veil]",
    ),
    click.option(
        "--baseline",
        "baselines",
        multiple=True,
        metavar="NAME",
        help=list_names("Text-level baseline to compare with", REWRITERS)
        + " none for none.  [default: remove, which is plain redaction]",
    ),
    click.option(
        "--seed",
        "seeds",
        cls=NumbersOption,
        type=int,
        metavar="N…",
        help="Repetitions, each with its own split, noise and attackers.  [default: 0]",
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
        multiple=True,
        metavar="[PART=]SHARE",
        help="Share of what is read out of unprotected vectors, above chance, that may remain for a pass. PART is "
        "words, presence or blank.  [default: 0.25 of each]",
    ),
    click.option(
        "--blanks",
        default=64,
        show_default=True,
        type=click.IntRange(min=0),
        help="Texts that someone fills in who has all but one private value; 0 leaves that out.",
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


@click.command(cls=NumbersCommand, short_help="Attack a veil, and measure what is left of the search.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@click.option(
    "--out", required=True, type=FILE, metavar="DIR", help="Folder for results; a stopped audit goes on in it."
)
@click.option(
    "--fail-on",
    type=click.Choice(["leak", "inconclusive"]),
    help="Exit with 2 where the verdict is fail; with inconclusive, also with 3 where it is that.",
)
@concept_option
@budgets_options
@plan_options
@grid_option
@text_options
@click.option("--id-column", metavar="COLUMN", help="Column that results name records by.  [default: row numbers]")
@click.option(
    "--group",
    "group_column",
    metavar="COLUMN",
    help="Column that says what texts belong to, such as a document or a person: attackers then read whole groups too.",
)
@embedder_option
@cache_option
def audit(
    *,
    veil_folder: Path,
    texts_file: Path,
    out: Path,
    fail_on: str | None,
    concept_file: Path | None,
    defenses: tuple[str, ...],
    baselines: tuple[str, ...],
    tolerance: tuple[str, ...],
    epsilon: tuple[float, ...],
    noise_ratio: tuple[float, ...],
    paper_epsilon: tuple[float, ...],
    text_column: str,
    annotations_column: str | None,
    skip_empty: bool,
    id_column: str | None,
    group_column: str | None,
    embedder: str | None,
    cache: Path | None,
    **settings: Any,
) -> None:
    """Attack what VEIL protects of TEXTS, beside no defense, redaction and plain noise, and measure the search.

    Vectors are protected as they are everywhere, with seeded noise, and never released. Stop it when you like: the same
    command goes on where it was.
    """
    from vecveil.audit import Experiment, Tolerance, collect_budgets, make_plan, prepare_audit
    from vecveil.concepts import load_concept
    from vecveil.veil import Veil
    from vecveil.veil.passages import read_text_rows

    veil = Veil.load(veil_folder)
    asked = {"epsilon": epsilon, "noise_ratio": noise_ratio, "paper_epsilon": paper_epsilon}
    named: dict[str, Any] = {
        name: tuple(one for one in values if one != "none")
        for name, values in (("defenses", defenses), ("baselines", baselines))
        if values
    }
    plan = make_plan(
        veil,
        budgets=collect_budgets(asked),
        tolerance=Tolerance.parse(tolerance),
        **named,
        **{name: None if value == () else value for name, value in settings.items()},
    )
    concept = veil.choose_concept(None if concept_file is None else load_concept(concept_file))
    rows = read_text_rows(
        texts_file,
        text_column=text_column,
        annotations_column=annotations_column,
        skip_empty=skip_empty,
        also=[name for name in (id_column, group_column) if name is not None],
    )
    experiment = Experiment(out)
    experiment.check()
    prepared = prepare_audit(
        plan,
        veil,
        concept,
        rows.passages,
        ids=None if id_column is None else rows.columns[id_column],
        groups=None if group_column is None else rows.columns[group_column],
        embedder=embedder,
        cache=cache,
        progress=progress_bar,
    )
    try:
        result, examples = prepared.run(experiment, progress=progress_bar)
    except KeyboardInterrupt:
        raise Stopped(f"What was computed is kept in {out}; repeat the command to go on.") from None
    report = write_results(result, examples, experiment)
    present_audit(result)
    notices().print(
        f"next: open {report}, or protect your texts:  vecveil protect {veil_folder} {texts_file} OUTPUT.parquet"
    )
    if fail_on is not None and (result.outcome == "fail" or fail_on == "inconclusive"):
        sys.exit(EXIT_CODES[result.outcome])


def write_results(result: AuditResult, examples: tuple[Example, ...], experiment: Experiment) -> Path:
    """Write the report, the tables and the findings, and return the report's place."""
    from vecveil.audit import EXPOSURES, Exposure
    from vecveil.reports import write_findings, write_report, write_tables

    report = experiment.path / "report.html"
    write_report(result, examples or None, report, title="vecveil audit")
    write_tables(result, experiment.path)
    write_findings(result, experiment.read(EXPOSURES, tuple[Exposure, ...]), experiment.path)
    return report


def present_audit(result: AuditResult) -> None:
    """Print the table with the meaning of its columns, the verdict, and the sentence."""
    for part in (overview_table(result), result.note, "", *verdict_lines(result)):
        output().print(part)
    output().print(f"\n{result.sentence}", soft_wrap=True)


def overview_table(result: AuditResult) -> Table:
    """Return one line for each defense: search, words, fill in the blank, presence; its heads are never cut."""
    from rich import box
    from rich.table import Table

    from vecveil.audit.result import HEADINGS, filled_columns

    places = filled_columns(result.overview)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place in places:
        # The names of defenses may wrap, where a budget stands beside them.
        table.add_column(HEADINGS[place], justify="right" if place else "left", no_wrap=bool(place))
    for row in result.overview:
        cells = row.cells()
        table.add_row(*(cells[place] for place in places), style="bold" if row.own else "")
    return table


def verdict_lines(result: AuditResult) -> Iterator[Text]:
    """Yield the verdict on the veil at its own budget, a line for each part, and why where a part does not pass."""
    from rich.text import Text

    from vecveil.core.percent import percent
    from vecveil.reports.verdict_tables import part_summaries

    for part in part_summaries(result):
        line = Text(f"{part.name}: ")
        line.append(part.outcome, style=f"bold {COLORS[part.outcome]}")
        if part.outcome == "pass" and part.strongest.retained is not None:
            left = percent(max(0.0, part.strongest.retained.value))
            line.append(f", {left} of what was read before is left, {percent(part.tolerance)} may be")
        yield line
        if part.outcome != "pass":
            yield from (Text(f"  {reason}") for reason in part.reasons)
