"""Measure what term lists find of annotated texts, by options of `terms`: `python recall.py --data DATA`.

A list holds every form that is annotated in one part of the texts; what it finds is measured in the other part. Forms
in capitals alone, such as "WAS", are a part of their own in which case counts. The second table changes the annotated
spans of the other part first: each that is in the list gets a wrong letter, a hyphen for a blank, or none, or an "s".
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from vecveil.concepts import Concept, Passage, Span, measure_concept
from vecveil.concepts.terms import Terms

OPTIONS = ("inflections", "spacing", "letters", "misspellings")
HAND_WRITTEN = Path(__file__).parents[1] / "frontier" / "conditions.toml"
PLACES = ("CITY", "COUNTRY", "NATIONALITY", "ORGANIZATION")

Change = Callable[[str, np.random.Generator], str]


class Task(NamedTuple):
    """A list of terms, and the annotated texts that it is measured on."""

    name: str
    terms: tuple[str, ...]
    texts: list[Passage]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="Folder of the benchmark data.")
    tasks = list(build_tasks(parser.parse_args().data))
    print("| list and texts | options | recall by span | by word | precision by span | by word |")
    print("| --- | --- | --- | --- | --- | --- |")
    for task in tasks:
        for name, on in (("none", ()), *((option, (option,)) for option in OPTIONS), ("all", OPTIONS)):
            print_row(f"{task.name}, {len(task.terms):,} terms" if name == "none" else "", name, task, on)
    print("\n| list and texts | changed | none | all options |\n| --- | --- | --- | --- |")
    for task in tasks:
        for name, change in CHANGES.items():
            changed = change_texts(task, change, np.random.default_rng(0))
            recall = [measure(build_concept(task, on), changed).recall for on in ((), OPTIONS)]
            print(f"| {task.name} | {name} | {recall[0]:.1%} | {recall[1]:.1%} |")


def print_row(title: str, name: str, task: Task, on: Sequence[str]) -> None:
    """Print what a list finds with some options."""
    agreement = measure_concept(build_concept(task, on), task.texts)
    spans, words = agreement.spans[""], agreement.words[""]
    shares = (spans.recall, words.recall, spans.precision, words.precision)
    print(f"| {title} | {name} | {' | '.join(f'{share:.1%}' for share in shares)} |")


def measure(concept: Concept, texts: Sequence[Passage]) -> object:
    """Return what a concept finds of spans."""
    return measure_concept(concept, texts).spans[""]


def build_tasks(data: Path) -> Iterator[Task]:
    """Yield the lists, and the texts that they were not made of."""
    rows = pq.read_table(data / "ncbi_disease" / "ncbi_disease.parquet").to_pylist()
    train = [row["split"] == "train" for row in rows]
    yield make_task("diseases in abstracts (`ncbi_disease`)", rows, train, ())
    rows = pq.read_table(data / "maccrobat2020" / "sentences.parquet").to_pylist()
    documents = sorted({row["doc_id"] for row in rows})
    first = [row["doc_id"] in documents[::2] for row in rows]
    learned = make_task("diseases in case reports (`maccrobat2020`)", rows, first, ("Disease_disorder",))
    yield learned
    (part,) = tomllib.loads(HAND_WRITTEN.read_text(encoding="utf-8"))["part"]
    everything = make_task("", rows, [False] * len(rows), ("Disease_disorder",))
    yield Task("the same, a hand-written list", tuple(part["terms"]), everything.texts)
    rows = pq.read_table(data / "pii_presidio" / "template_fills.parquet").to_pylist()
    train = [row["split"] == "train" for row in rows]
    yield make_task("places and organizations (`pii_presidio`)", rows, train, PLACES)


def make_task(name: str, rows: Sequence[dict], first: Sequence[bool], labels: Sequence[str]) -> Task:
    """Return the forms that are annotated in the first part, and the texts of the other."""
    terms: dict[str, None] = {}
    texts = []
    for row, listed in zip(rows, first, strict=True):
        spans = [Span(each["start"], each["end"], each["label"]) for each in row["entities"]]
        spans = [span for span in spans if not labels or span.label in labels]
        if listed:
            terms |= dict.fromkeys(" ".join(row["text"][span.start : span.end].split()) for span in spans)
        else:
            texts.append(Passage(row["text"], tuple(sorted(spans))))
    return Task(name, tuple(terms), texts)


def build_concept(task: Task, on: Sequence[str]) -> Concept:
    """Return the concept of a list with some options on, and the others off."""
    options = {option: option in on for option in OPTIONS}
    acronyms = tuple(term for term in task.terms if term.isupper())
    words = tuple(term for term in task.terms if not term.isupper())
    concept: Concept = Terms(terms=words, **options)
    return concept | Terms(terms=acronyms, case_sensitive=True, **options) if acronyms else concept


def change_texts(task: Task, change: Change, rng: np.random.Generator) -> list[Passage]:
    """Return the texts with the annotated spans of the list changed, and no other spans."""
    listed = {term.casefold() for term in task.terms}
    changed = []
    for passage in task.texts:
        text, end, spans = "", 0, []
        for span in passage.annotations:
            form = passage.text[span.start : span.end]
            if span.start < end or form.casefold() not in listed or form.isupper():
                continue
            other = change(form, rng)
            if other == form:
                continue
            text += passage.text[end : span.start]
            spans.append(Span(len(text), len(text) + len(other), span.label))
            text += other
            end = span.end
        changed.append(Passage(text + passage.text[end:], tuple(spans)))
    return changed


def misspell(form: str, rng: np.random.Generator) -> str:
    """Return a form of eight letters or more with a letter added, dropped, changed or swapped with the next."""
    places = [place for place in range(1, len(form) - 1) if form[place - 1 : place + 2].isalpha()]
    if sum(map(str.isalpha, form)) < 8 or not places:
        return form
    place = int(rng.choice(places))
    letter = "abcdefghijklmnopqrstuvwxyz"[int(rng.integers(26))]
    kept = (form[place:], form[place + 1 :], form[place + 1 :], form[place + 2 :])
    new = (letter, "", letter, form[place + 1] + form[place])
    kind = int(rng.integers(4))
    return form[:place] + new[kind] + kept[kind]


CHANGES: dict[str, Change] = {
    "a wrong letter, in eight or more": misspell,
    "a hyphen for a blank": lambda form, _: form.replace(" ", "-"),
    "no blanks": lambda form, _: form.replace(" ", ""),
    "a plural in s": lambda form, _: form if form.endswith("s") else f"{form}s",
}


if __name__ == "__main__":
    main()
