"""`vecveil selftest`: whether the noise of this installation is what it is said to be."""

from __future__ import annotations

import json
from pathlib import Path

import click

from vecveil.artifacts.atomic import atomic_file, exists_already
from vecveil.cli.console import output, progress_bar
from vecveil.cli.options import FILE, one_of_these
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS


@click.command(short_help="Test the installed mechanisms and their noise on this machine.")
@click.option(
    "--mechanism", "mechanisms", multiple=True, metavar="NAME", help=one_of_these("Test only this one", MECHANISMS)
)
@click.option("--samples", default=30_000, show_default=True, metavar="N", help="Releases of each input.")
@click.option(
    "--false-alarms",
    default=1e-6,
    show_default=True,
    metavar="RATE",
    help="Chance that an installation without fault fails, over all checks together.",
)
@click.option("--thorough", is_flag=True, help="Test up to 4,096 dimensions too; takes minutes.")
@click.option("--seed", type=int, metavar="N", help="Repeat a run. Without it, noise is drawn as it is in use.")
@click.option("--json", "json_file", type=FILE, metavar="FILE", help="Write every finding to a file.")
@click.option("--overwrite", is_flag=True, help="Replace that file.")
@click.pass_context
def selftest(
    ctx: click.Context,
    *,
    mechanisms: tuple[str, ...],
    samples: int,
    false_alarms: float,
    thorough: bool,
    seed: int | None,
    json_file: Path | None,
    overwrite: bool,
) -> None:
    """Test, with statistics, that noise has its law and that releases give away no more than promised.

    Broken samplers and streams are tested as well, and must be caught. Ends with 0 if all is well, and with 1 if a
    check fails or a broken part goes unseen. A pass is no proof of privacy; docs/selftest.md says what it is.
    """
    from vecveil.cli.selftest_results import canary_table, failure_lines, subject_table
    from vecveil.testing.selftest import SelfTest

    if json_file is not None:
        _require_free(json_file, overwrite=overwrite)
    test = SelfTest(mechanisms=mechanisms, samples=samples, false_alarms=false_alarms, thorough=thorough, seed=seed)
    result = test.run(progress=progress_bar)
    console = output()
    for part in (subject_table(result), canary_table(result), *failure_lines(result)):
        console.print(part)
    console.print(result.verdict, style="green" if result.passed else "bold red")
    if json_file is not None:
        with atomic_file(json_file) as draft:
            draft.write_text(json.dumps(result.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        click.echo(f"findings written to {json_file}", err=True)
    ctx.exit(0 if result.passed else 1)


def _require_free(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise exists_already(path)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInputError(f"{path} can't be written: it is a folder, or there is none to hold it")
