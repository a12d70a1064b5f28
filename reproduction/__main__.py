"""`python -m reproduction`: the paper's tables and figures."""

from __future__ import annotations

from pathlib import Path

import click

from reproduction import EXPERIMENTS, FULL, QUICK, Lab, PaperExperiment, check_priors
from reproduction.local_sets import NER, with_local
from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.main import run
from vecveil.cli.options import FILE, Stopped
from vecveil.core.errors import InvalidInputError, VecveilError
from vecveil.embedders import resolve_embedder

LIST, ALL = "list", "all"


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="list|all|NAME…")
@click.option("--data", type=FILE, metavar="DIR", help="Folder of the data sets (docs/reproduction).")
@click.option("--out", type=FILE, metavar="DIR", help="Folder for tables, plots and what was measured.")
@click.option("--quick", is_flag=True, help="A first look: fewer texts, one seed; minutes for each.")
@click.option("--seeds", type=int, metavar="N", help="Repetitions.  [default: 5, with --quick 1]")
@click.option("--embedder", default="minilm", show_default=True, help="Stands for the paper's GTR-base.")
@click.option(
    "--prior",
    "priors",
    multiple=True,
    metavar="ATTACK=DIR",
    help="A prior of geia or vec2text, made by `vecveil prior`; with one of vec2text, that is the main attack.",
)
@click.option(
    "--local",
    "files",
    multiple=True,
    metavar="SET=FILE",
    help="A set that only some may have, in the place of its stand-in: mimic-iii (NOTEEVENTS), pii-300k.",
)
@click.option("--ner", metavar="MODEL", help="Marks mimic-iii.  [default: d4data/biomedical-ner-all]")
@click.option("--cache", type=FILE, metavar="DIR", help="Folder of embeddings.  [default: cache in --out]")
def reproduce(
    *,
    names: tuple[str, ...],
    data: Path | None,
    out: Path | None,
    quick: bool,
    seeds: int | None,
    embedder: str,
    priors: tuple[str, ...],
    files: tuple[str, ...],
    ner: str | None,
    cache: Path | None,
) -> None:
    """Run experiments of the paper and put our figures beside the printed ones.

    `list` names them, `all` runs them all. Stop it when you like: the same command goes on where it was.
    """
    known = [*EXPERIMENTS.builtin, *(name for name in EXPERIMENTS.names() if name not in EXPERIMENTS.builtin)]
    if LIST in names:
        for name in known:
            one = EXPERIMENTS.load(name)
            output().print(f"{name:18} {one.where}: {one.title}", markup=False, highlight=False, soft_wrap=True)
        return
    asked = known if ALL in names else list(dict.fromkeys(names))
    experiments = [EXPERIMENTS.load(name)() for name in asked]
    if data is None or out is None:
        raise click.UsageError("an experiment needs --data and --out")
    if not data.is_dir():
        raise InvalidInputError(f"there is no folder {data}")
    given = dict(_parse_path(one, "--prior") for one in priors)
    effort = QUICK if quick else FULL
    local = dict(_parse_path(one, "--local") for one in files)
    lab = Lab(
        data=data,
        out=out / "measured",
        effort=effort if seeds is None else effort.with_seeds(seeds),
        embedder=embedder,
        priors=check_priors(given, resolve_embedder(embedder)) if given else {},
        datasets=with_local(local, ner=ner or NER),
        cache=cache or out / "cache",
        progress=progress_bar,
    )
    failed = [one.name for one in experiments if not _run(one, lab, out)]
    if failed:
        raise InvalidInputError(
            f"{len(failed)} of {len(experiments)} experiments could not be run: {', '.join(failed)}"
        )


def _run(experiment: PaperExperiment, lab: Lab, out: Path) -> bool:
    """Run an experiment, write and show what it found; say so, and go on with the others, where it can't be run."""
    place = out / lab.effort.name / experiment.name
    try:
        result = experiment.run(lab)
    except KeyboardInterrupt:
        raise Stopped(f"What was measured is kept in {out}; repeat the command to go on.") from None
    except VecveilError as error:
        notices().print(f"{experiment.name} could not be run: {error}", markup=False, style="red")
        return False
    result.write(place)
    output().print(result.table().markdown(), markup=False, highlight=False)
    notices().print(f"tables and plots written to {place}")
    return True


def _parse_path(given: str, option: str) -> tuple[str, Path]:
    name, separator, path = given.partition("=")
    if not separator or not path:
        raise InvalidInputError(f"{option} takes NAME=PATH, got {given!r}")
    return name, Path(path)


if __name__ == "__main__":
    run(reproduce)
