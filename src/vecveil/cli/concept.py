"""`vecveil concept`: show what a concept finds in texts."""

import json
from collections import Counter, defaultdict
from math import isnan
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console
from rich.table import Table

from vecveil.cli.console import mark_spans, output, progress_bar, say
from vecveil.cli.options import AT_LEAST_ZERO, FILE, contrast_option, option, text_options
from vecveil.concepts import Concept, ContrastSet, Passage, contrast_set, load_concept
from vecveil.concepts.agreement import ConceptAgreement, compare_spans
from vecveil.concepts.passage import split_chunks
from vecveil.concepts.removal import remove_spans
from vecveil.core.atomic import atomic_file
from vecveil.core.errors import InvalidInputError
from vecveil.core.percent import percent
from vecveil.substitutions.plain import Remove
from vecveil.veil import read_passages
from vecveil.veil.words import WordProtection

FORMS = 5
"""Most frequent forms of a category that are listed: a wrong recognizer is seen by them."""


@click.command(short_help="Show what a concept finds in texts.")
@click.argument("concept_file", metavar="CONCEPT", type=FILE)
@click.argument("texts_file", metavar="TEXTS", type=FILE)
@text_options
@option(
    "--label LABEL",
    "With --annotations: an annotated label that is private; repeat it for more.  [default: those of the concept where "
    "annotations have one, else all]",
    into="labels",
    multiple=True,
)
@option(
    "--examples",
    "Number of texts to show, and with --annotations of missed and of wrong forms.",
    default=5,
    type=AT_LEAST_ZERO,
)
@contrast_option
@option("--seed", "Chooses the replacements, as for learn.", default=0)
@option(
    "--pairs FILE.jsonl",
    "Write all texts, and those with the concept without it too, to embed them elsewhere. The file holds private text.",
)
def concept(
    *,
    concept_file: Path,
    texts_file: Path,
    annotations_column: str | None,
    labels: tuple[str, ...],
    examples: int,
    contrast: Literal["removal", "replacement"],
    seed: int,
    pairs: Path | None,
    **reading: Any,
) -> None:
    """Show what CONCEPT, a TOML file, finds in TEXTS: counts for each category, and examples with the finds marked.

    With --annotations, the finds are compared with the spans in that column: precision and recall for each label, by
    span and by word, with the forms that are missed or wrong most often.

    TEXTS is Parquet, Arrow, JSONL, CSV, TSV or plain lines. The examples are private text: this command shows them
    on your terminal and nowhere else.
    """
    if pairs is not None and pairs.exists():
        raise InvalidInputError(f"{pairs} exists already; choose another name for --pairs")
    if labels and annotations_column is None:
        raise InvalidInputError("--label says which annotations count: name their column with --annotations")
    named = load_concept(concept_file)
    passages = read_passages(texts_file, annotations_column=annotations_column, **reading)
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
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for passage, spans in holding:
        for span in spans:
            forms[span.label][passage.text[span.start : span.end].casefold()] += 1
    for label in dict.fromkeys([*sorted(forms, key=lambda label: -forms[label].total()), *named.expected]):
        texts = sum(any(span.label == label for span in spans) for _, spans in holding)
        most = ", ".join(f"{form} ({number:,})" for form, number in forms[label].most_common(FORMS)).replace("\n", "↵")
        counts = (f"{number:,}" for number in (forms[label].total(), texts, len(forms[label])))
        table.add_row(label, *counts, *([most] if examples else []))
    console.print(table)
    if annotations_column is not None and not named.reads_annotations:
        _print_agreement(console, compare_spans(named, passages, found, labels), examples)
    if not holding:
        say("The concept matches nothing here, so nothing can be learned from these texts.")
        return
    for passage, spans in holding[:: max(1, len(holding) // max(1, examples))][:examples]:
        console.print()
        console.print("with   ", mark_spans(passage.text, spans), sep=" ")
        console.print("without", remove_spans(passage.text, spans).replace("\n", "↵"), sep=" ")
    if pairs is not None and contrasts is not None:
        _write_pairs(pairs, contrasts, passages, named)


def _print_agreement(console: Console, agreement: ConceptAgreement, examples: int) -> None:
    table = Table("label", "annotated", "recall by span", "by word", "finds", "precision by span", "by word", box=None)
    # The empty label stands for all of them.
    for label in [*filter(None, agreement.spans), ""]:
        spans, words = agreement.spans[label], agreement.words[label]
        figures = (spans.recall, words.recall, spans.precision, words.precision)
        shares = ["-" if isnan(share) else percent(share, 1) for share in figures]
        table.add_row(label or "all", f"{spans.annotated:,}", *shares[:2], f"{spans.finds:,}", *shares[2:])
    console.print()
    console.print(table)
    for title, forms in (("missed", agreement.missed), ("wrong", agreement.wrong)):
        for (label, form), count in list(forms.items())[:examples]:
            console.print(f"{title} {count:,}×: {form} ({label})")


def _write_pairs(path: Path, contrasts: ContrastSet, passages: list[Passage], named: Concept) -> None:
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
    say(f"{sum(map(len, sides.values())):,} texts written to {path}")
