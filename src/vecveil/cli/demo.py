"""`vecveil demo`: the whole way on the bundled sample."""

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

from vecveil.audit import AuditResult, Example, Experiment, learn, make_plan, prepare_audit
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.rows import sort_examples
from vecveil.cli.audit import overview_table, verdict_lines, write_results
from vecveil.cli.console import mark_spans, notices, output, progress_bar
from vecveil.cli.options import option, stop_with
from vecveil.concepts import Span, load_concept
from vecveil.core.arrays import Embeddings
from vecveil.core.atomic import atomic_file
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.core.folders import cache_folder
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.samples import SampleQuery, clinical_sentences, concept_path, judged_queries
from vecveil.shapes import DEFAULT_SHAPE
from vecveil.veil import Veil, protect_file

SHOWN = 5
"""Results of the search that are shown."""

BLANKS, CANDIDATES = 24, 16
"""Texts in which someone fills in a private value, and what it may be at most."""


@click.command(short_help="Go the whole way on the bundled sample.")
@option("--shape", "Shape learner.", default=DEFAULT_SHAPE)
@option("--preset", "Named settings of the shape learner, such as 'paper'.")
@option("--embedder", "Embedder, as for learn.", default="minilm")
@option("--texts", "Number of sample notes.", default=1200, type=click.IntRange(min=300))
@option("--seed", "Of the learner, and of the audit's noise and attackers.", default=0)
@option("--out DIR", "Where sample, concept, veil, protected vectors and the report go.", default=Path("vecveil-demo"))
@option("--picture FILE.svg", "Write the table and the sentence as a picture.")
def demo(*, out: Path, picture: Path | None, **settings: Any) -> None:
    """Learn and apply a veil for "disease and age" on made-up notes of a clinic, attack it, and write the report.

    Search is measured by judged queries on other subjects: medication, procedures, appointments and complaints. The
    notes are synthetic and public, so their embeddings are cached, and noise is seeded to make the numbers repeatable.
    Neither is done with your own texts.
    """
    if picture is not None and picture.exists():
        raise InvalidInputError(f"{picture} exists already; choose another name for --picture")
    if out.exists() and any(out.iterdir()) and not (out / "search").exists():
        raise InvalidInputError(f"{out} exists already and holds no demo; choose another name for --out")
    with needs_extra("scikit-learn", "audit"):
        # Said first, as this extra brings all that a demo needs.
        import sklearn  # noqa: F401
    with stop_with(f"What was computed is kept in {out}; repeat the command to go on."):
        _run(out, picture, **settings)


def _run(out: Path, picture: Path | None, *, texts: int, embedder: str, seed: int, **chosen: Any) -> None:
    sentences = clinical_sentences(texts, complaints=True)
    corpus, queries = [sentence.text for sentence in sentences], judged_queries(sentences)
    concept = load_concept(concept_path())
    notices().print(
        f"{texts:,} made-up notes of a clinic, and {len(queries)} judged queries. Diseases and ages are "
        "private. It takes about a minute."
    )
    experiment = Experiment(out / "audit")
    experiment.check()
    _keep_sample(out, corpus, queries)
    model = MemoizedEmbedder(resolve_embedder(embedder, cache=cache_folder() / "demo"))
    task = f"retrieval:{out / 'search'}"
    # The notes are made up.
    veil = learn(
        concept, corpus, embedder=model, seed=seed, tasks=(task,), public=True, progress=progress_bar, **chosen
    )
    plan = make_plan(
        veil,
        tasks=(task,),
        defenses=("laplace", "sparse", "veil"),
        seeds=(seed,),
        copies=1,
        blanks=BLANKS,
        candidates=CANDIDATES,
    )
    audit = prepare_audit(plan, veil, concept, corpus, embedder=model, progress=progress_bar)
    # The audit of another demo must not end up beside the veil of this one.
    experiment.check(audit.identity())
    protected = _protect(out, veil, model, seed)
    notices().print("attacking it, beside what else there is")
    result, examples = audit.run(experiment, progress=progress_bar)
    report = write_results(result, examples, experiment)
    if picture is not None:
        write_picture(result, picture)
    _show_note(examples)
    _show_search(corpus, queries, model, protected)
    _show_defenses(result, veil)
    notices().print(f"kept in {out}: open {report}, or try  vecveil show {out / 'demo.veil'}")
    # In one piece, so that it is the last line of a pipe too.
    output().print(f"\n{result.outcome.capitalize()}. {result.sentence}", soft_wrap=True)


def write_picture(result: AuditResult, path: Path) -> None:
    """Write the table and the sentence as an SVG picture that loads nothing from elsewhere."""
    console = Console(record=True, width=84, file=io.StringIO(), highlight=False)
    console.print(overview_table(result))
    console.print(f"{result.outcome.capitalize()}. {result.sentence}")
    drawing = console.export_svg(title="vecveil demo", unique_id="vecveil")
    with atomic_file(path) as draft:
        draft.write_text(re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL), encoding="utf-8")


def _keep_sample(out: Path, corpus: Sequence[str], queries: Sequence[SampleQuery]) -> None:
    """Write notes, queries and judgments into the folder `out`, to go on from."""
    search = out / "search"
    (search / "qrels").mkdir(mode=0o700, parents=True, exist_ok=True)
    judged = [f"{number}\t{row}\t1" for number, query in enumerate(queries) for row in query.relevant]
    asked = [query.text for query in queries]
    for path, lines in (
        (out / "texts.jsonl", [json.dumps({"id": number, "text": text}) for number, text in enumerate(corpus)]),
        (out / "concept.toml", concept_path().read_text(encoding="utf-8").splitlines()),
        (search / "corpus.jsonl", [json.dumps({"_id": str(row), "text": text}) for row, text in enumerate(corpus)]),
        (search / "queries.jsonl", [json.dumps({"_id": str(row), "text": text}) for row, text in enumerate(asked)]),
        (search / "qrels" / "test.tsv", ["query-id\tcorpus-id\tscore", *judged]),
    ):
        content = "\n".join(lines) + "\n"
        if path.exists() and path.read_text(encoding="utf-8") != content:
            raise InvalidInputError(f"{out} holds a demo of other notes; choose another name for --out")
        with atomic_file(path) as draft:
            draft.write_text(content, encoding="utf-8")


def _protect(out: Path, veil: Veil, model: Embedder, seed: int) -> Embeddings:
    """Write the veil and the protected vectors of the notes into the folder `out`, and return the vectors."""
    from pyarrow import parquet

    veil.save(out / "demo.veil", overwrite=True)
    protected = out / "protected.parquet"
    protect_file(veil, out / "texts.jsonl", protected, embedder=model, seed=seed, ledger="none", overwrite=True)
    return np.array(parquet.read_table(protected)["vector"].to_pylist(), dtype=np.float32)


def _show_note(examples: Sequence[Example]) -> None:
    """Print one note, what attackers read out of its clean vector, and what they read behind the veil."""
    note = sort_examples(examples)[0]
    settings = {one.setting.defense: one.setting for one in note.readings if one.setting.own or not one.setting.asked}
    console = output()
    console.print("A note, with its private words:", style="bold")
    console.print(mark_spans(note.text, tuple(Span(*span) for span in note.spans)))
    for defense, title in (("none", "Read out of its vector today:  "), ("veil", "Read out of it behind the veil:")):
        words = note.read_words(settings[defense]) if defense in settings else ()
        console.print(title, ", ".join(words) or "nothing", f"({len(words)} of {len(note.tokens)} private words)")


def _show_search(corpus: Sequence[str], queries: Sequence[SampleQuery], model: Embedder, protected: Embeddings) -> None:
    """Print the first results of one query, before and after: of the first that today finds nothing but right notes."""
    clean, asked = model.embed(list(corpus)), model.embed([query.text for query in queries])
    lengths = np.linalg.norm(protected, axis=1)
    before, after = (np.argsort(-(asked @ side.T), axis=1)[:, :SHOWN] for side in (clean, protected / lengths[:, None]))
    right = [sum(row in query.relevant for row in rows) for query, rows in zip(queries, before.tolist(), strict=True)]
    chosen = int(np.argmax(right))
    console = output()
    console.print(f'\nA search: "{queries[chosen].text}"', style="bold")
    for title, rows in (("Found today:", before[chosen]), ("Found behind the veil:", after[chosen])):
        console.print(title)
        for row in rows.tolist():
            sign = "✓" if row in queries[chosen].relevant else "·"
            console.print(f"  {sign} {corpus[row]}", no_wrap=True, overflow="ellipsis")
    console.print("✓ is right, as judged.")


def _show_defenses(result: AuditResult, veil: Veil) -> None:
    """Print the table, what is promised, and the verdict."""
    console = output()
    console.print("\nDefenses at equal search", style="bold")
    console.print(overview_table(result))
    console.print(result.note)
    words = veil.guarantee().words
    console.print("\nWhat is promised", style="bold")
    if words is not None:
        console.print(f"{words.sentence[:1].upper()}{words.sentence[1:]}.")
    console.print("What the rest of a note tells of its private words is measured, not promised: vecveil guarantee.")
    console.print("\nThe verdict", style="bold")
    for line in verdict_lines(result):
        console.print(line)
