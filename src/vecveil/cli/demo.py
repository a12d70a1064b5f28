"""`vecveil demo`: the whole way on the bundled sample."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vecveil.cli.audit import overview_table, present_audit
from vecveil.cli.console import mark_spans, notices, output, progress_bar
from vecveil.cli.options import FILE, Stopped
from vecveil.core.errors import InvalidInputError
from vecveil.core.folders import cache_folder
from vecveil.shapes.registry import DEFAULT_SHAPE

if TYPE_CHECKING:
    from vecveil.audit import AuditResult
    from vecveil.concepts import Concept
    from vecveil.embedders import Embedder
    from vecveil.veil import Veil


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
    from vecveil.audit import Experiment, make_plan, prepare_audit
    from vecveil.audit.result import NOTE
    from vecveil.concepts import load_concept
    from vecveil.veil import learn

    if picture is not None and picture.exists():
        raise InvalidInputError(f"{picture} exists already; choose another name for --picture")
    if out.exists() and any(out.iterdir()) and not (out / "demo.veil").exists():
        raise InvalidInputError(f"{out} exists already and holds no demo; choose another name for --out")
    experiment = Experiment(out / "audit")
    experiment.check()
    corpus = [sentence.text for sentence in samples.clinical_sentences(texts)]
    concept = load_concept(samples.concept_path())
    _introduce(concept, corpus)
    cache = cache_folder() / "demo"
    veil = learn(
        concept,
        corpus,
        embedder=embedder,
        shape=shape,
        preset=preset,
        noise_ratio=0.3,
        seed=seed,
        cache=cache,
        # The sentences are made up.
        public=True,
        progress=progress_bar,
    )
    plan = make_plan(veil, seeds=(seed,), copies=1)
    audit = prepare_audit(plan, veil, concept, corpus, cache=cache, progress=progress_bar)
    # The audit of another demo must not end up beside the veil of this one.
    experiment.check(audit.identity())
    _keep_files(out, corpus=corpus, concept_file=samples.concept_path(), veil=veil, model=veil.embedder(cache=cache))
    try:
        result, examples = audit.run(experiment, progress=progress_bar)
    except KeyboardInterrupt:
        raise Stopped(f"What was computed is kept in {out}; repeat the command to go on.") from None
    present_audit(result, examples, experiment)
    output().print(f"\n{NOTE}")
    if picture is not None:
        write_picture(result, picture)
    notices().print(f"kept in {out}: open {experiment.path / 'report.html'}, or try  vecveil show {out / 'demo.veil'}")


def write_picture(result: AuditResult, path: Path) -> None:
    """Write the table as an SVG picture that loads nothing from elsewhere."""
    import io

    from rich.console import Console

    from vecveil.core.atomic import atomic_file

    console = Console(record=True, width=112, file=io.StringIO())
    console.print(overview_table(result))
    drawing = console.export_svg(title="vecveil demo", unique_id="vecveil")
    with atomic_file(path) as draft:
        draft.write_text(re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL), encoding="utf-8")


def _introduce(concept: Concept, corpus: list[str]) -> None:
    console = notices()
    console.print(f"{len(corpus):,} made-up clinical sentences. The private concept is diseases and ages:")
    for text in [text for text in corpus[:40] if concept.find(text)][:3]:
        console.print("  ", mark_spans(text, concept.find(text)), sep="")


def _keep_files(out: Path, *, corpus: Sequence[str], concept_file: Path, veil: Veil, model: Embedder) -> None:
    """Write what the demo used and made into the folder `out`, to go on from."""
    from vecveil.core.atomic import atomic_file
    from vecveil.veil import protect_file

    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    veil.save(out / "demo.veil", overwrite=True)
    lines = (json.dumps({"id": number, "text": text}) for number, text in enumerate(corpus))
    for name, content in (
        ("texts.jsonl", "\n".join(lines) + "\n"),
        ("concept.toml", concept_file.read_text(encoding="utf-8")),
    ):
        with atomic_file(out / name) as draft:
            draft.write_text(content, encoding="utf-8")
    source, protected = out / "texts.jsonl", out / "protected.parquet"
    protect_file(veil, source, protected, embedder=model, overwrite=True)
