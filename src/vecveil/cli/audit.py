"""`vecveil audit`: attack a veil, and measure search."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table
from rich.text import Text

from vecveil.attacks import ATTACKS
from vecveil.audit import (
    EXPOSURES,
    AuditResult,
    Example,
    Experiment,
    Exposure,
    Tolerance,
    collect_budgets,
    make_plan,
    prepare_audit,
)
from vecveil.audit.result import HEADINGS, filled_columns
from vecveil.cli import options
from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.options import (
    AT_LEAST_ONE,
    AT_LEAST_ZERO,
    FILE,
    NumbersCommand,
    NumbersOption,
    flag,
    list_names,
    option,
)
from vecveil.concepts import load_concept
from vecveil.concepts.rewriting import REWRITERS
from vecveil.core.percent import percent
from vecveil.reports import write_findings, write_report, write_tables
from vecveil.reports.verdict_tables import part_summaries
from vecveil.veil import Veil
from vecveil.veil.budget import SCALES
from vecveil.veil.passages import read_text_rows

COLORS = {"pass": "green", "fail": "red", "inconclusive": "yellow"}

EXIT_CODES = {"pass": 0, "fail": 2, "inconclusive": 3}

plan_options = options.add_options(
    option(
        "--attack SPEC",
        list_names("NAME[:PRIOR][,setting=value]", ATTACKS)
        + " Any may have denoiser=mlp or none, and copies=N. Fill-in-the-blank and the concept probes always run.  "
        "[default: mlc, quickly trained, and nearest]",
        into="attacks",
        multiple=True,
    ),
    option(
        "--task SPEC",
        "known-item[:FILE], queries:FILE, retrieval:DIR, neighbors[:FILE], sts:FILE or mteb:NAME, each with "
        "settings such as ,protected=both. The first is the headline.  [default: known-item, neighbors]",
        into="tasks",
        multiple=True,
    ),
    option("--queries FILE", "Your own queries, without judgments: the same as --task queries:FILE before all others."),
    option(
        "--defense NAME",
        "What to attack beside unprotected vectors: veil, sparse (the paper's mask, learned on TEXTS), or a "
        "mechanism of plain noise; none for nothing else.  "
        "[default: laplace, veil]",
        into="defenses",
        multiple=True,
    ),
    option(
        "--baseline NAME",
        list_names("Text-level baseline to compare with", REWRITERS)
        + " none for none.  [default: remove, which is plain redaction]",
        into="baselines",
        multiple=True,
    ),
    option(
        "--seed N…",
        "Repetitions, each with its own split, noise and attackers.  [default: 0]",
        into="seeds",
        cls=NumbersOption,
        type=int,
    ),
    option("--copies", "Fresh releases of each training text that attackers learn from.", default=2, type=AT_LEAST_ONE),
    flag(
        "--keyed",
        "Audit noise from a key: a record that is released again is the same, so that averaging gains nothing.",
    ),
    option(
        "--near-copies COSINE",
        "Texts this near to each other stay on one side of the split, so that no attacker knows a near copy of a "
        "text that it is tested on; 0.75 serves most models.  [default: texts are split one by one]",
        type=float,
    ),
    option(
        "--tolerance [PART=]SHARE",
        "Share of what is read out of unprotected vectors, above chance, that may remain for a pass. PART is "
        "words, presence or blank.  [default: 0.25 of each]",
        multiple=True,
    ),
    option(
        "--blanks",
        "Texts that someone fills in who has all but one private value; 0 leaves that out.",
        default=64,
        type=AT_LEAST_ZERO,
    ),
    option(
        "--keep-utility SHARE",
        "Say how many candidates you must rerank to keep this share of all searches.  [default: 0.95]",
        type=float,
    ),
    option(
        "--judge EMBEDDER",
        "Embedder, other than the attacked one, that says how near reconstructions come to the texts.",
        default="",
    ),
    option(
        "--examples",
        "Texts that the report shows with what was read of them. They are private; 0 leaves texts out.",
        default=6,
        type=AT_LEAST_ZERO,
    ),
)


@click.command(cls=NumbersCommand, short_help="Attack a veil, and measure what is left of the search.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@option("--out DIR", "Folder for results; a stopped audit goes on in it.", required=True)
@option(
    "--fail-on",
    "Exit with 2 where the verdict is fail; with inconclusive, also with 3 where it is that.",
    type=click.Choice(["leak", "inconclusive"]),
)
@options.concept_option
@options.budgets_options
@plan_options
@options.grid_option
@options.text_options
@option("--id-column COLUMN", "Column that results name records by.  [default: row numbers]")
@option(
    "--group COLUMN",
    "Column that says what texts belong to, such as a document or a person: attackers then read whole groups too.",
    into="group_column",
)
@flag(
    "--show-exposed",
    "Show the texts of the ten most exposed records in the report, which is then private. On a finished audit "
    "nothing is computed again.",
)
@options.embedder_option
@options.cache_option
def audit(
    *,
    veil_folder: Path,
    texts_file: Path,
    out: Path,
    fail_on: str | None,
    concept_file: Path | None,
    tolerance: tuple[str, ...],
    text_column: str,
    annotations_column: str | None,
    skip_empty: bool,
    id_column: str | None,
    group_column: str | None,
    show_exposed: bool,
    embedder: str | None,
    cache: Path | None,
    **settings: Any,
) -> None:
    """Attack what VEIL protects of TEXTS, beside no defense, redaction and plain noise, and measure the search.

    Vectors are protected as they are everywhere, with seeded noise, and never released. Stop it when you like: the same
    command goes on where it was.
    """
    veil = Veil.load(veil_folder)
    budgets = collect_budgets({name: settings.pop(name) for name in SCALES})
    # Where an option is not given, the plan has its own default.
    given = {name: value for name, value in settings.items() if value != ()}
    for name in {"defenses", "baselines"} & {*given}:
        given[name] = tuple(one for one in given[name] if one != "none")
    plan = make_plan(veil, budgets=budgets, tolerance=Tolerance.parse(tolerance), **given)
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
    with options.stop_with(f"What was computed is kept in {out}; repeat the command to go on."):
        result, examples = prepared.run(experiment, progress=progress_bar)
    report = write_results(result, examples, experiment, prepared.corpus.text_of if show_exposed else None)
    present_audit(result)
    notices().print(
        f"next: open {report}, or protect your texts:  vecveil protect {veil_folder} {texts_file} OUTPUT.parquet"
    )
    if fail_on is not None and (result.outcome == "fail" or fail_on == "inconclusive"):
        sys.exit(EXIT_CODES[result.outcome])


def write_results(
    result: AuditResult,
    examples: tuple[Example, ...],
    experiment: Experiment,
    exposed: Mapping[str, str] | None = None,
) -> Path:
    """Write the report, the tables and the findings, and return the report's place; `exposed` has texts of records."""
    report = experiment.path / "report.html"
    write_report(result, examples or None, report, title="vecveil audit", exposed=exposed)
    write_tables(result, experiment.path)
    write_findings(result, experiment.read(EXPOSURES, tuple[Exposure, ...]), experiment.path)
    return report


def present_audit(result: AuditResult) -> None:
    """Print the table with the meaning of its columns, the verdict, and the sentence."""
    for part in (overview_table(result), result.note, "", *verdict_lines(result)):
        output().print(part)
    said = (f"Verdict: {result.outcome}." if result.verdicts else "", result.sentence, result.reranking_sentence)
    output().print("\n" + " ".join(filter(None, said)), soft_wrap=True)


def overview_table(result: AuditResult) -> Table:
    """Return one line for each defense: search, words, fill in the blank, presence; its heads are never cut."""
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
    for part in part_summaries(result):
        line = Text(f"{part.name}: ")
        line.append(part.outcome, style=f"bold {COLORS[part.outcome]}")
        if part.strongest.retained is not None:
            left = f"{percent(max(0.0, part.strongest.retained.value))} ({part.ranges})"
            line.append(f", {left} of what was read before is left, {percent(part.tolerance)} may be")
        yield line
        if part.outcome != "pass":
            yield from (Text(f"  {reason}") for reason in part.reasons)
