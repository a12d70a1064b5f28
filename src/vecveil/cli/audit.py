"""`vecveil audit`: attack a veil, and measure search."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
    embedder_option,
    grid_option,
    list_names,
    text_options,
)
from vecveil.concepts.rewriting import REWRITERS
from vecveil.core.errors import InvalidInputError, VecveilError

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from vecveil.audit import AuditResult, Example, Experiment, Setting
    from vecveil.concepts import Concept
    from vecveil.veil import Veil
    from vecveil.veil.budget import Budget

COLORS = {"pass": "green", "fail": "red", "inconclusive": "yellow"}

plan_options = add_options(
    click.option(
        "--attack",
        "attacks",
        multiple=True,
        metavar="SPEC",
        help=list_names("NAME[:PRIOR][,setting=value]", ATTACKS)
        + " The concept probes, nearest and averaging always run.",
    ),
    click.option(
        "--task",
        "tasks",
        multiple=True,
        metavar="SPEC",
        help="neighbors[:FILE], sts:FILE, retrieval:DIR or mteb:NAME, each with settings such as "
        ",protected=documents.  [default: neighbors]",
    ),
    click.option(
        "--defense",
        "defenses",
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
        help=list_names("Text-level baseline to compare with", REWRITERS),
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


@click.command(cls=NumbersCommand, short_help="Attack a veil, and measure what is left of the search.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@click.option(
    "--out", required=True, type=FILE, metavar="DIR", help="Folder for results; a stopped audit goes on in it."
)
@click.option(
    "--concept",
    "concept_file",
    type=FILE,
    metavar="CONCEPT",
    help="What is private.  [default: what the veil keeps, or the one concept file beside it that fits]",
)
@budgets_options
@plan_options
@grid_option
@text_options
@embedder_option
@cache_option
def audit(
    *,
    veil_folder: Path,
    texts_file: Path,
    out: Path,
    concept_file: Path | None,
    attacks: tuple[str, ...],
    tasks: tuple[str, ...],
    defenses: tuple[str, ...],
    seeds: tuple[int, ...],
    releases: int,
    epsilon: tuple[float, ...],
    noise_ratio: tuple[float, ...],
    paper_epsilon: tuple[float, ...],
    text_column: str,
    annotations_column: str | None,
    skip_empty: bool,
    embedder: str | None,
    cache: Path | None,
    **settings: Any,
) -> None:
    """Attack what VEIL protects of TEXTS, beside no defense and plain noise, and measure what is left of the search.

    Vectors are protected as they are everywhere, with seeded noise, and never released. Stop it when you like: the same
    command goes on where it was.
    """
    from vecveil.audit import AuditPlan, Experiment, default_budgets, prepare_audit, with_default_attacks
    from vecveil.audit.plan import DEFENSES
    from vecveil.veil import Veil, read_passages

    veil = Veil.load(veil_folder)
    plan = AuditPlan(
        attacks=with_default_attacks(attacks, releases=releases),
        tasks=tasks or ("neighbors",),
        budgets=default_budgets(veil, _collect_budgets(epsilon, noise_ratio, paper_epsilon)),
        defenses=tuple(name for name in defenses or DEFENSES if name != "none"),
        seeds=seeds or (0,),
        **settings,
    )
    concept = find_concept(veil, veil_folder, concept_file)
    passages = read_passages(
        texts_file, text_column=text_column, annotations_column=annotations_column, skip_empty=skip_empty
    )
    experiment = Experiment(out)
    experiment.check()
    prepared = prepare_audit(plan, veil, concept, passages, embedder=embedder, cache=cache, progress=progress_bar)
    try:
        result, examples = prepared.run(experiment, progress=progress_bar)
    except KeyboardInterrupt:
        raise Stopped(f"What was computed is kept in {out}; repeat the command to go on.") from None
    present_audit(result, examples, experiment)


def present_audit(result: AuditResult, examples: tuple[Example, ...], experiment: Experiment) -> None:
    """Write the report and the tables, and print the summary of both."""
    from vecveil.reports import write_report, write_tables

    report = experiment.path / "report.html"
    write_report(result, examples or None, report, title="vecveil audit")
    write_tables(result, experiment.path)
    for part in (attack_table(result), *verdict_lines(result)):
        output().print(part)
    notices().print(f"report written to {report}")


def attack_table(result: AuditResult) -> Table:
    """Return one line per defense: the leakage of each attack, the AUC of each probe, the score of each task."""
    from rich import box
    from rich.table import Table

    attacks = list(dict.fromkeys(row.attack for row in result.attacks))
    probes = list(dict.fromkeys(row.probe for row in result.probes))
    tasks = list(dict.fromkeys(row.task for row in result.tasks))
    names = [*attacks, *(f"{probe} probe" for probe in probes), *tasks]
    table = Table("defense", "budget", *names, box=box.SIMPLE_HEAD)
    for column in table.columns[2:]:
        column.justify = "right"
    for setting in _settings(result):
        leakage = {row.attack: f"{row.leakage.value:.0%}" for row in result.attacks if row.setting == setting}
        auc = {row.probe: f"{row.auc.value:.3f}" for row in result.probes if row.setting == setting}
        score = {row.task: f"{row.scores[row.main]:.3f}" for row in result.tasks if row.setting == setting}
        cells = [
            *(leakage.get(name, "") for name in attacks),
            *(auc.get(name, "") for name in probes),
            *(score.get(name, "") for name in tasks),
        ]
        asked = f"{setting.asked}{_seed(result, setting)}".removeprefix(", ")
        table.add_row(setting.label, asked, *cells, end_section=setting.defense == "none")
    return table


def verdict_lines(result: AuditResult) -> Iterator[Text]:
    """Yield each verdict with its reasons."""
    from rich.text import Text

    for verdict in result.verdicts:
        line = Text(f"{verdict.setting.label}, {verdict.setting.asked}{_seed(result, verdict.setting)}: ")
        line.append(verdict.outcome, style=f"bold {COLORS[verdict.outcome]}")
        yield line
        for reason in verdict.reasons:
            yield Text(f"  {reason}")


def find_concept(veil: Veil, veil_folder: Path, concept_file: Path | None) -> Concept:
    """Return the concept of a veil: in the file that is named, in the veil itself, or in a file beside it that fits.

    A file fits if its concept has the kinds and sizes that the veil keeps. Where two files fit, neither is taken.
    """
    from vecveil.concepts import load_concept
    from vecveil.concepts.toml_file import concept_from_settings

    if concept_file is not None:
        return load_concept(concept_file)
    try:
        # Where the owner asked for it, the veil holds the whole concept.
        return concept_from_settings(veil.provenance.concept, folder=veil_folder)
    except VecveilError:
        fitting = _find_fitting_files(veil, veil_folder)
    if len(fitting) == 1:
        [(path, concept)] = fitting.items()
        notices().print(f"concept: {path.name}, which fits the veil; name another with --concept")
        return concept
    names = ", ".join(path.name for path in fitting)
    problem = (
        f"several files beside the veil fit it ({names})"
        if fitting
        else "no file beside the veil has a concept of its kinds and sizes, as after a change of the concept file"
    )
    raise InvalidInputError(f"name what is private with --concept FILE: the veil doesn't tell, and {problem}")


def _find_fitting_files(veil: Veil, veil_folder: Path) -> dict[Path, Concept]:
    from vecveil.concepts import load_concept

    kept = _plain(veil.provenance.concept)
    fitting = {}
    for folder in dict.fromkeys((veil_folder.absolute().parent.resolve(), Path.cwd())):
        for path in sorted(folder.glob("*.toml")):
            try:
                concept = load_concept(path)
            except VecveilError:
                continue
            if _plain(concept.summary()) == kept:
                fitting[path] = concept
    return fitting


def _plain(summary: Mapping[str, Any]) -> Any:
    """Return a summary as JSON brings it back."""
    return json.loads(json.dumps(dict(summary)))


def _collect_budgets(
    epsilon: tuple[float, ...], noise_ratio: tuple[float, ...], paper_epsilon: tuple[float, ...]
) -> tuple[Budget, ...]:
    from vecveil.veil.budget import SCALES, Budget

    given = {"epsilon": epsilon, "noise_ratio": noise_ratio, "paper_epsilon": paper_epsilon}
    return tuple(Budget(value=value, scale=SCALES[name]) for name, values in given.items() for value in values)


def _seed(result: AuditResult, setting: Setting) -> str:
    return f", seed {setting.seed}" if len(result.plan["seeds"]) > 1 else ""


def _settings(result: AuditResult) -> list[Setting]:
    rows = [*(row.setting for row in result.probes), *(row.setting for row in result.tasks)]
    return list(dict.fromkeys([*rows, *(row.setting for row in result.attacks)]))
