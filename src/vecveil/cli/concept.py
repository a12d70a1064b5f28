"""`vecveil concept`: show what a concept finds in texts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from vecveil.cli.console import mark_spans, output, progress_bar
from vecveil.cli.options import FILE, contrast_option, text_options
from vecveil.core.errors import InvalidInputError
from vecveil.core.percent import percent

if TYPE_CHECKING:
    from rich.console import Console

    from vecveil.concepts import Concept, ContrastSet, Passage, Span
    from vecveil.concepts.agreement import ConceptAgreement


FORMS = 5
"""Most frequent forms of a category that are listed: a wrong recognizer is seen by them."""


@click.command(short_help="Show what a concept finds in texts.")
@click.argument("concept_file", metavar="CONCEPT", type=FILE)
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@text_options
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="LABEL",
    help="With --annotations: an annotated label that is private; repeat it for more.  [default: those of the concept "
    "where annotations have one, else all]",
)
@click.option(
    "--examples",
    default=5,
    show_default=True,
    type=click.IntRange(min=0),
    help="Number of texts to show, and with --annotations of missed and of wrong forms.",
)
@contrast_option
@click.option("--seed", default=0, show_default=True, help="Chooses the replacements, as for learn.")
@click.option(
    "--pairs",
    type=FILE,
    metavar="FILE.jsonl",
    help="Write all texts, and those with the concept without it too, to embed them elsewhere. The file holds private "
    "text.",
)
def concept(
    *,
    concept_file: Path,
    texts_file: Path,
    text_column: str,
    annotations_column: str | None,
    skip_empty: bool,
    labels: tuple[str, ...],
    examples: int,
    contrast: Literal["removal", "replacement"],
    seed: int,
    pairs: Path | None,
) -> None:
    """Show what CONCEPT, a TOML file, finds in TEXTS: counts for each category, and examples with the finds marked.

    With --annotations, the finds are compared with the spans in that column: precision and recall for each label, by
    span and by word, with the forms that are missed or wrong most often.

    TEXTS is Parquet, Arrow, JSONL, CSV, TSV or plain lines. The examples are private text: this command shows them
    on your terminal and nowhere else.
    """
    from rich.table import Table

    from vecveil.concepts import contrast_set, load_concept
    from vecveil.concepts.agreement import compare_spans
    from vecveil.concepts.passage import split_chunks
    from vecveil.concepts.removal import remove_spans
    from vecveil.veil import read_passages

    if pairs is not None and pairs.exists():
        raise InvalidInputError(f"{pairs} exists already; choose another name for --pairs")
    if labels and annotations_column is None:
        raise InvalidInputError("--label says which annotations count: name their column with --annotations")
    named = load_concept(concept_file)
    passages = read_passages(
        texts_file, text_column=text_column, annotations_column=annotations_column, skip_empty=skip_empty
    )
    contrasts = None
    if pairs is not None:
        contrasts = contrast_set(
            named, passages, kind=contrast, seed=seed, allow_everywhere=True, drop_empty=True, progress=progress_bar
        )
        found = list(contrasts.spans)
    else:
        chunks = split_chunks(passages, label="finding the concept", progress=progress_bar)
        found = [spans for chunk in chunks for spans in named.find_all(chunk)]
    holding = [(passage, spans) for passage, spans in zip(passages, found, strict=True) if spans]

    console = output()
    console.print(
        f"{len(holding):,} of {len(passages):,} texts ({percent(len(holding) / len(passages))}) hold the concept"
    )
    # Forms are text of the corpus, as examples are.
    table = Table("category", "finds", "texts", "forms", *(["most frequent"] if examples else []), box=None)
    counts = Counter(span.label for spans in found for span in spans)
    for label, finds in [*counts.most_common(), *((label, 0) for label in named.expected if label not in counts)]:
        texts = sum(any(span.label == label for span in spans) for spans in found)
        forms = Counter(passage.text[span.start : span.end].casefold() for passage, span in _spans(holding, label))
        most = ", ".join(f"{form} ({number:,})" for form, number in forms.most_common(FORMS if examples else 0))
        table.add_row(
            label, f"{finds:,}", f"{texts:,}", f"{len(forms):,}", *([most.replace("\n", "↵")] if examples else [])
        )
    console.print(table)
    if annotations_column is not None and not named.reads_annotations:
        _print_agreement(console, compare_spans(named, passages, found, labels), examples)
    if not holding:
        click.echo("The concept matches nothing here, so nothing can be learned from these texts.", err=True)
        return
    for passage, spans in holding[:: max(1, len(holding) // max(1, examples))][:examples]:
        console.print()
        console.print("with   ", mark_spans(passage.text, spans), sep=" ")
        console.print("without", remove_spans(passage.text, spans).replace("\n", "↵"), sep=" ")
    if pairs is not None and contrasts is not None:
        _write_pairs(pairs, contrasts, passages, named)


def _print_agreement(console: Console, agreement: ConceptAgreement, examples: int) -> None:
    from math import isnan

    from rich.table import Table

    table = Table("label", "annotated", "recall by span", "by word", "finds", "precision by span", "by word", box=None)
    for label, spans in [
        *((label, one) for label, one in agreement.spans.items() if label),
        ("all", agreement.spans[""]),
    ]:
        words = agreement.words["" if label == "all" else label]
        shares = [
            "-" if isnan(share) else percent(share, 1)
            for share in (spans.recall, words.recall, spans.precision, words.precision)
        ]
        table.add_row(label, f"{spans.annotated:,}", *shares[:2], f"{spans.finds:,}", *shares[2:])
    console.print()
    console.print(table)
    for title, forms in (("missed", agreement.missed), ("wrong", agreement.wrong)):
        for (label, form), count in list(forms.items())[:examples]:
            console.print(f"{title} {count:,}×: {form} ({label})")


def _spans(holding: list[tuple[Passage, tuple[Span, ...]]], label: str) -> list[tuple[Passage, Span]]:
    return [(passage, span) for passage, spans in holding for span in spans if span.label == label]


def _write_pairs(path: Path, contrasts: ContrastSet, passages: list[Passage], named: Concept) -> None:
    import json

    from vecveil.core.atomic import atomic_file
    from vecveil.substitutions.plain import Remove
    from vecveil.veil.words import WordProtection

    others = [passages[row].text for row in sorted({*range(len(passages))} - {*contrasts.rows})]
    read = WordProtection(substitution=Remove(), concept=named).rewrite_sample(passages, contrasts.spans, seed=0)
    sides = {"with": contrasts.with_concept, "without": contrasts.without_concept, "other": others}
    # Where words are removed, articles go too, so that the model may read a text that is no half of a pair.
    sides["removed"] = sorted({*read.values()} - {text for texts in sides.values() for text in texts})
    with atomic_file(path) as draft, draft.open("w", encoding="utf-8") as stream:
        for side, texts in sides.items():
            for number, text in enumerate(texts):
                pair = number if side in {"with", "without"} else None
                stream.write(json.dumps({"pair": pair, "concept": side, "text": text}, ensure_ascii=False) + "\n")
    click.echo(f"{sum(map(len, sides.values())):,} texts written to {path}", err=True)
