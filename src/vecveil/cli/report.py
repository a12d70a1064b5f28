"""`vecveil report`: write the report of an audit again."""

from pathlib import Path

import click

from vecveil.audit import EXAMPLES, EXPOSURES, RESULTS, AuditResult, Example, Experiment, Exposure
from vecveil.cli.console import say
from vecveil.cli.options import FILE, flag, option
from vecveil.reports import write_findings, write_report, write_tables


@click.command(short_help="Write the report of an audit again.")
@click.argument("audit_folder", metavar="AUDIT", type=FILE)
@option("--out FILE.html", "Where to.  [default: report.html in the audit's folder]")
@option("--title", "Title of the page.", default="vecveil audit")
@flag("--no-texts", "Leave the example texts out, to show the report to others.")
def report(*, audit_folder: Path, out: Path | None, title: str, no_texts: bool) -> None:
    """Write the report of the finished audit in the folder AUDIT; without --out, its tables too."""
    experiment = Experiment(audit_folder)
    result = experiment.read(RESULTS, AuditResult)
    examples = None if no_texts else experiment.read(EXAMPLES, tuple[Example, ...]) or None
    path = out or audit_folder / "report.html"
    write_report(result, examples, path, title=title)
    if out is None:
        write_tables(result, audit_folder)
        write_findings(result, experiment.read(EXPOSURES, tuple[Exposure, ...]), audit_folder)
    say(f"report written to {path}")
