"""`vecveil demo`: the whole way on the bundled sample."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vecveil.cli.audit import NOISE_RATIOS, present_audit
from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.demo_results import comparison, keep_picture
from vecveil.cli.marking import marked
from vecveil.cli.options import FILE, Stopped
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.registry import DEFAULT_SHAPE

if TYPE_CHECKING:
    from vecveil.concepts import Concept
    from vecveil.embedders import Embedder
    from vecveil.veil import Veil

READING = """\
How to read it: the budget is the length of the noise over the length of an embedding. Under mlc, nearest and \
averaging stands the leakage: the share of private words that the attack reads back out of vectors it has not seen, \
after training on vectors protected in the same way (averaging gets eight releases of each record). The probes tell a \
text with the concept from the same text without it: 0.5 is blind, 1 sees everything. Neighbours is the share of the \
ten nearest neighbours that stay, with both sides protected, and with documents only."""


@click.command(short_help="Go the whole way on the bundled sample.")
@click.option("--shape", default=DEFAULT_SHAPE, show_default=True, help="Shape learner.")
@click.option("--preset", help="Named settings of the shape learner, such as 'paper'.")
@click.option("--embedder", default="minilm", show_default=True, help="Embedder, as for learn.")
@click.option(
    "--texts", default=3000, show_default=True, type=click.IntRange(min=300), help="Number of sample sentences."
)
@click.option("--seed", default=0, show_default=True, help="Of the learner, and of the audit's noise and attackers.")
@click.option(
    "--out",
    type=FILE,
    default=Path("vecveil-demo"),
    show_default=True,
    metavar="DIR",
    help="Where sample, concept, veil, protected vectors and the report go.",
)
@click.option("--picture", type=FILE, metavar="FILE.svg", help="Write the table as a picture.")
def demo(
    *, shape: str, preset: str | None, embedder: str, texts: int, seed: int, out: Path, picture: Path | None
) -> None:
    """Learn and apply a veil for "disease and age" on made-up clinical sentences, attack it, and write the report.

    The sample is synthetic and public, so its embeddings are cached, and the noise of the audit is seeded to make the
    numbers repeatable. Neither is done with your own texts.
    """
    from vecveil import samples
    from vecveil.audit import AuditFolder, AuditPlan, Budget, prepare, run_audit
    from vecveil.concepts import load_concept
    from vecveil.veil import learn

    if picture is not None and picture.exists():
        raise InvalidInputError(f"{picture} exists already; choose another name for --picture")
    if out.exists() and any(out.iterdir()) and not (out / "demo.veil").exists():
        raise InvalidInputError(f"{out} exists already and holds no demo; choose another name for --out")
    folder = AuditFolder(out / "audit")
    folder.check()
    corpus = [sentence.text for sentence in samples.clinical_sentences(texts)]
    concept = load_concept(samples.concept_path())
    _introduce(concept, corpus)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vecveil" / "demo"
    veil = learn(
        concept, corpus, embedder=embedder, shape=shape, preset=preset, seed=seed, cache=cache, progress=progress_bar
    )
    plan = AuditPlan(
        attacks=("mlc,patience=8", "nearest", 'averaging,settings={"patience": 8}'),
        tasks=("neighbours", "neighbours,protected=documents"),
        budgets=tuple(Budget(value=ratio, scale="noise-ratio") for ratio in NOISE_RATIOS),
        # Less than an audit does: a demo should not take long, and Purkayastha noise does as Laplace noise does.
        defences=("laplace", "veil"),
        seeds=(seed,),
        copies=1,
    )
    grid = prepare(plan, veil, concept, corpus, cache=cache, progress=progress_bar)
    # The audit of another demo must not end up beside the veil of this one.
    folder.check(grid.identity())
    _keep(out, corpus=corpus, concept_file=samples.concept_path(), veil=veil, model=veil.embedder(cache=cache))
    try:
        result, examples = run_audit(grid, folder, progress=progress_bar)
    except KeyboardInterrupt:
        raise Stopped(f"What was computed is kept in {out}; repeat the command to go on.") from None
    present_audit(result, examples, folder)
    console = output()
    console.print()
    console.print(comparison(result))
    console.print()
    console.print(READING)
    if picture is not None:
        keep_picture(result, picture)
    notices().print(f"kept in {out}: open {folder.path / 'report.html'}, or try  vecveil show {out / 'demo.veil'}")


def _introduce(concept: Concept, corpus: list[str]) -> None:
    console = notices()
    console.print(f"{len(corpus):,} made-up clinical sentences. Private are diseases and ages, marked here:")
    for text in [text for text in corpus[:40] if concept.find(text)][:3]:
        console.print("  ", marked(text, concept.find(text)), sep="")


def _keep(out: Path, *, corpus: Sequence[str], concept_file: Path, veil: Veil, model: Embedder) -> None:
    """Write what the demo used and made into the folder `out`, to go on from."""
    from vecveil.artifacts.atomic import atomic_file
    from vecveil.veil import protect_file

    out.mkdir(parents=True, exist_ok=True)
    veil.save(out / "demo.veil", overwrite=True)
    lines = (json.dumps({"id": number, "text": text}) for number, text in enumerate(corpus))
    for name, content in (
        ("texts.jsonl", "\n".join(lines) + "\n"),
        ("concept.toml", concept_file.read_text(encoding="utf-8")),
    ):
        with atomic_file(out / name) as draft:
            draft.write_text(content, encoding="utf-8")
    protect_file(
        veil,
        out / "texts.jsonl",
        out / "protected.parquet",
        epsilon=veil.epsilon_for(noise_ratio=1.0),
        embedder=model,
        overwrite=True,
    )
