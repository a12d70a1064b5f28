"""`vecveil audit` and `vecveil report`: attack a veil, and look at what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vecveil.cli.audit_options import audit_options
from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.options import FILE, Stopped, text_options
from vecveil.cli.several import CommandOfNumbers
from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from vecveil.audit import AuditFolder, AuditResult, Budget, Example
    from vecveil.veil import Veil

NOISE_RATIOS = (0.5, 1.0, 2.0)
"""Budgets where none is named and the veil keeps none."""

DROWNING = 10.0
"""Noise this many times as long as an embedding leaves nothing to search by."""


@click.command(cls=CommandOfNumbers, short_help="Attack a veil, and measure what is left of the search.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@audit_options
@text_options
@click.option("--embedder", help="The veil's embedder, where it is to be found under another name.")
@click.option("--cache", type=FILE, metavar="DIR", help="Keep clean embeddings here. As sensitive as the texts.")
def audit(
    *,
    veil_folder: Path,
    texts_file: Path,
    out: Path,
    concept_file: Path | None,
    attacks: tuple[str, ...],
    tasks: tuple[str, ...],
    defences: tuple[str, ...],
    baselines: tuple[str, ...],
    epsilons: tuple[float, ...],
    scale: str,
    noise_ratios: tuple[float, ...],
    seeds: tuple[int, ...],
    releases: int,
    copies: int,
    keyed: bool,
    near_copies: float | None,
    tolerance: float,
    judge: str,
    examples: int,
    text_column: str,
    annotations_column: str | None,
    skip_empty: bool,
    embedder: str | None,
    cache: Path | None,
) -> None:
    """Attack what VEIL protects of TEXTS, beside no defence and plain noise, and measure what is left of the search.

    The noise of an audit is seeded and never released. Stop it when you like: the same command goes on where it was.
    """
    from vecveil.audit import AuditFolder, AuditPlan, prepare, run_audit
    from vecveil.audit.plan import DEFENCES
    from vecveil.cli.concept_of_veil import concept_of
    from vecveil.veil import Veil, read_passages

    veil = Veil.load(veil_folder)
    plan = AuditPlan(
        attacks=(*attacks, *_always(attacks, releases)),
        tasks=tasks or ("neighbours",),
        budgets=_budgets(veil, epsilons=epsilons, scale=scale, noise_ratios=noise_ratios),
        defences=tuple(name for name in defences or DEFENCES if name != "none"),
        baselines=baselines,
        seeds=seeds or (0,),
        copies=copies,
        keyed=keyed,
        near_copies=near_copies,
        tolerance=tolerance,
        examples=examples,
        judge=judge,
    )
    concept = concept_of(veil, veil_folder, concept_file)
    passages = read_passages(
        texts_file, text_column=text_column, annotations_column=annotations_column, skip_empty=skip_empty
    )
    folder = AuditFolder(out)
    folder.check()
    grid = prepare(plan, veil, concept, passages, embedder=embedder, cache=cache, progress=progress_bar)
    try:
        result, shown = run_audit(grid, folder, progress=progress_bar)
    except KeyboardInterrupt:
        raise Stopped(f"What was computed is kept in {out}; repeat the command to go on.") from None
    present_audit(result, shown, folder)


@click.command(short_help="Write the report of an audit again.")
@click.argument("audit_folder", metavar="AUDIT", type=FILE)
@click.option("--out", type=FILE, metavar="FILE.html", help="Where to.  [default: report.html in the audit's folder]")
@click.option("--title", default="vecveil audit", show_default=True, help="Title of the page.")
@click.option("--no-texts", is_flag=True, help="Leave the example texts out, to show the report to others.")
def report(*, audit_folder: Path, out: Path | None, title: str, no_texts: bool) -> None:
    """Write the report of the finished audit in the folder AUDIT; without --out, its tables too."""
    from vecveil.audit import AuditFolder
    from vecveil.reports import write_report, write_tables

    folder = AuditFolder(audit_folder)
    result = folder.result()
    path = out or audit_folder / "report.html"
    write_report(result, None if no_texts else folder.examples() or None, path, title=title)
    if out is None:
        write_tables(result, audit_folder)
    click.echo(f"report written to {path}", err=True)


def present_audit(result: AuditResult, examples: tuple[Example, ...], folder: AuditFolder) -> None:
    """Write the report and the tables, and print what they come down to."""
    from vecveil.cli.audit_results import attack_table, verdict_lines
    from vecveil.reports import write_report, write_tables

    write_report(result, examples or None, folder.path / "report.html", title="vecveil audit")
    write_tables(result, folder.path)
    console = output()
    console.print(attack_table(result))
    for line in verdict_lines(result):
        console.print(line)
    notices().print(f"report written to {folder.path / 'report.html'}")


def _always(attacks: tuple[str, ...], releases: int) -> tuple[str, ...]:
    named = {spec.partition(",")[0].partition(":")[0] for spec in attacks}
    always = {"nearest": "nearest"} | ({"averaging": f"averaging,releases={releases}"} if releases > 1 else {})
    return tuple(spec for name, spec in always.items() if name not in named)


def _budgets(
    veil: Veil, *, epsilons: tuple[float, ...], scale: str, noise_ratios: tuple[float, ...]
) -> tuple[Budget, ...]:
    from vecveil.audit import Budget

    if scale == "paper" and not epsilons:
        raise InvalidInputError("--scale paper says how to read --epsilon, which is not given")
    asked = [Budget(value=value, scale="paper" if scale == "paper" else "literal") for value in epsilons]
    _warn_of_drowning(veil, [budget.value for budget in asked if budget.scale == "literal"])
    asked += [Budget(value=value, scale="noise-ratio") for value in noise_ratios]
    if not asked and veil.epsilon is not None:
        asked = [Budget(value=veil.epsilon, scale="literal")]
    return tuple(asked) or tuple(Budget(value=value, scale="noise-ratio") for value in NOISE_RATIOS)


def _warn_of_drowning(veil: Veil, epsilons: list[float]) -> None:
    """Tell a reader of the paper that its epsilons, taken literally, leave nothing of a vector."""
    loud = [
        (epsilon, ratio)
        for epsilon in epsilons
        if (ratio := veil.mechanism_at(epsilon).noise_ratio(veil.typical.signal)) > DROWNING
    ]
    if loud:
        epsilon, ratio = loud[0]
        notices().print(
            f"ε = {epsilon:g} is noise {ratio:.3g} times as long as an embedding, in which everything drowns; the "
            "paper's epsilons are meant with --scale paper"
        )
