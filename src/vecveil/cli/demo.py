"""`vecveil demo`: the whole way on the bundled sample."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.demo_results import comparison, keep_picture, keep_results, results_table
from vecveil.cli.marking import marked
from vecveil.cli.options import FILE
from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from vecveil.concepts import Concept

NOISE_RATIOS = (0.5, 1.0, 2.0)

READING = """\
How to read it: ε is the literal privacy loss, in nats, per unit of the distance d. Noise is its length over the \
length of an embedding. Pair loss is the worst case for the median pair of a text with the concept and the same text \
without it; above 10 nats it promises nothing by itself, and what protects is what attacks fail to find. Kept is the \
share of the ten nearest neighbours that stay, with both sides protected, and with documents only. The probe is an \
MLP trained on vectors protected in the same way to tell a text with the concept from the same text without it, \
measured on pairs it has not seen: 0.5 is blind, 1 sees everything."""


@click.command(short_help="Go the whole way on the bundled sample.")
@click.option("--shape", default="hard-concrete", show_default=True, help="Shape learner.")
@click.option("--preset", help="Named settings of the shape learner, such as 'paper'.")
@click.option("--embedder", default="minilm", show_default=True, help="Embedder, as for learn.")
@click.option(
    "--texts", default=3000, show_default=True, type=click.IntRange(min=100), help="Number of sample sentences."
)
@click.option("--seed", default=0, show_default=True, help="Of the learner, of the table's noise and of the probe.")
@click.option("--out", type=FILE, metavar="DIR", help="Keep sample, concept, veil, protected vectors and results here.")
@click.option("--picture", type=FILE, metavar="FILE.svg", help="Write the table as a picture.")
def demo(
    *, shape: str, preset: str | None, embedder: str, texts: int, seed: int, out: Path | None, picture: Path | None
) -> None:
    """Learn and apply a veil for "disease and age" on made-up clinical sentences, and attack the result.

    The sample is synthetic and public, so its embeddings are cached, and the noise of the table is seeded to make the
    numbers repeatable. Neither is done with your own texts.
    """
    from vecveil import samples
    from vecveil.audit import Glance
    from vecveil.concepts import contrast_set, load_concept
    from vecveil.shapes import ContrastPairs
    from vecveil.veil import learn
    from vecveil.veil.embedding import embed_texts

    for option, path in (("--out", out), ("--picture", picture)):
        if path is not None and path.exists():
            raise InvalidInputError(f"{path} exists already; choose another name for {option}")
    corpus = [sentence.text for sentence in samples.clinical_sentences(texts)]
    concept = load_concept(samples.concept_path())
    console = output()
    _introduce(concept, corpus)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vecveil" / "demo"
    veil = learn(
        concept, corpus, embedder=embedder, shape=shape, preset=preset, seed=seed, cache=cache, progress=progress_bar
    )
    model = veil.embedder(cache=cache)
    pairs = contrast_set(concept, corpus, seed=seed)
    glance = Glance(
        corpus=embed_texts(model, corpus, label="embedding the corpus", progress=progress_bar),
        pairs=ContrastPairs(embed_texts(model, pairs.with_concept), embed_texts(model, pairs.without_concept)),
        seed=seed,
    )
    rows = glance.rows(veil, NOISE_RATIOS, progress=progress_bar)
    console.print(results_table(rows))
    console.print(comparison(rows))
    console.print()
    console.print(READING)
    if picture is not None:
        keep_picture(rows, picture)
    if out is not None:
        keep_results(out, corpus=corpus, concept_file=samples.concept_path(), veil=veil, rows=rows, model=model)
        click.echo(f"kept in {out}: try  vecveil show {out / 'demo.veil'}", err=True)


def _introduce(concept: Concept, corpus: list[str]) -> None:
    console = notices()
    console.print(f"{len(corpus):,} made-up clinical sentences. Private are diseases and ages, marked here:")
    for text in [text for text in corpus[:40] if concept.find(text)][:3]:
        console.print("  ", marked(text, concept.find(text)), sep="")
