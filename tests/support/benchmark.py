"""The paper's data sets in their form, small and made up, and toys in the place of the models that it takes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from vecveil.concepts import Concept, terms
from vecveil.core.arrays import Embeddings, Vector
from vecveil.embedders import Fingerprint

DAYS = ("Monday", "Tuesday", "Friday")
MONTHS = ("January", "June", "October")
COUNTRIES = ("China", "France", "Russia")
CITIES = ("London", "Paris", "Boston")
PEOPLE = ("Barack Obama", "Angela Merkel", "Vladimir Putin")
NUMBERS = ("two", "three", "four")
SEXES = ("man", "woman", "girl")
ILLNESSES = ("asthma", "gout", "measles", "diabetes")
SYMPTOMS = ("fever", "cough", "headache")
STATES = ("Texas", "Ohio", "Nevada")


TOY_DIMENSIONS = 40


@dataclass(frozen=True, kw_only=True)
class ToyModel:
    """Adds up one direction for each word, whatever signs stand around it, and brings the sum to length one.

    Attributes:
        name: The model that it stands in for; its directions depend on it.
        dimensions: Of its vectors.
    """

    name: str
    dimensions: int = TOY_DIMENSIONS

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(model=self.name, revision="toy", dimensions=self.dimensions, normalized=True)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        rows = [text.lower().replace(",", " ").replace(".", " ").split() or [""] for text in texts]
        sums = [np.sum([_direction(self.name, word, self.dimensions) for word in row], axis=0) for row in rows]
        vectors = np.array(sums).reshape(len(texts), self.dimensions)
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@cache
def _direction(name: str, word: str, dimensions: int) -> Vector:
    seed = int.from_bytes(hashlib.sha256(f"{name} {word}".encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimensions)


def toy_minilm(_: str) -> ToyModel:
    """Return what stands in for minilm."""
    return ToyModel(name="minilm")


def toy_mpnet(_: str) -> ToyModel:
    """Return what stands in for mpnet."""
    return ToyModel(name="mpnet")


def toy_entities(*, labels: Sequence[str]) -> Concept:
    """Return what stands in for named entities by spaCy: the names that stand in the sentences."""
    assert {"PERSON", "GPE", "DATE"} <= {*labels}
    people = [name for person in PEOPLE for name in person.split()]
    places = terms(*COUNTRIES, *CITIES, label="GPE")
    return terms(*people, label="PERSON") | places | terms(*DAYS, *MONTHS, label="DATE")


def sentences() -> list[str]:
    """Return sentences, most of them with something that is private."""
    rng = np.random.default_rng(0)
    found = [f"{who} met the leaders of {where} on {day}." for who, where, day in product(PEOPLE, COUNTRIES, DAYS)]
    found += [f"{who} will speak in {city} in {month}." for who, city, month in product(PEOPLE, CITIES, MONTHS)]
    found += [f"The {sex} bought {many} tickets to {city}." for sex, many, city in product(SEXES, NUMBERS, CITIES)]
    found += [f"Trains to {city} stop on every {day} in {month}." for city, day, month in product(CITIES, DAYS, MONTHS)]
    found += [f"A {sex} from {place} is playing the guitar." for sex, place in product(SEXES, COUNTRIES)]
    found += [f"Someone is {doing} in the {place}." for doing, place in product(_DOINGS, _PLACES)]
    return [found[row] for row in rng.permutation(len(found))]


_DOINGS = ("cooking", "reading", "sleeping", "dancing", "singing", "painting")
_PLACES = ("kitchen", "garden", "park", "house", "room", "yard")


def write_benchmark(folder: Path) -> Path:
    """Write every data set that an experiment reads, and return the folder."""
    texts = sentences()
    for name in ("sts12", "stsb", "sts14"):
        half = len(texts) // 2
        rows = [
            {"split": "test", "subset": "x", "sentence1": one, "sentence2": other, "score": _score(one, other)}
            for one, other in zip(texts[:half], texts[half : 2 * half], strict=True)
        ]
        _write(folder / name / f"{name}.parquet", rows)
    for name, split in (("fiqa", "train"), ("quora", "test"), ("nfcorpus", "train")):
        queries = [{"id": f"q{row}", "text": text, "split": split} for row, text in enumerate(texts)]
        queries += [{"id": f"t{row}", "text": f"Who is in {_PLACES[row]}?", "split": "test"} for row in range(6)]
        _write(folder / name / "queries.parquet", queries)
        documents = [{"id": f"d{row}", "title": "", "text": text} for row, text in enumerate(texts)]
        _write(folder / name / "corpus.parquet", documents)
        judged = [
            {"query_id": f"t{row}", "doc_id": document["id"], "score": 1, "split": "test"}
            for row in range(6)
            for document in documents
            if f"in the {_PLACES[row]}" in document["text"]
        ]
        _write(folder / name / "qrels.parquet", judged)
    _write(folder / "maccrobat2020" / "sentences.parquet", _clinical())
    _write(folder / "pii_presidio" / "template_fills.parquet", _personal())
    return folder


def _clinical() -> list[dict[str, Any]]:
    found = [
        _marked(
            (f"{age}-year-old", "Age"),
            (sex, "Sex"),
            "has had",
            (illness, "Disease_disorder"),
            "with",
            (symptom, "Sign_symptom"),
            "for years",
        )
        for age, sex, illness, symptom in product((31, 47, 62), ("male", "female"), ILLNESSES, SYMPTOMS)
    ]
    found += [
        _marked("no sign of", (illness, "Disease_disorder"), f"in {month}")
        for illness, month in product(ILLNESSES, MONTHS)
    ]
    found += [
        _marked("a", (sex, "Sex"), "came with", (symptom, "Sign_symptom"), f"on {day}")
        for sex, symptom, day in product(("male", "female"), SYMPTOMS, DAYS)
    ]
    return found + [_marked(f"the visit of {day} was canceled in {city}") for day, city in product(DAYS, CITIES)]


def _personal() -> list[dict[str, Any]]:
    found = [
        _marked(f"{who} lives in", (city, "CITY"), ",", (state, "STATE"), "and was born in", (country, "COUNTRY"))
        for who, city, state, country in product(PEOPLE, CITIES, STATES, COUNTRIES)
    ]
    found += [
        _marked("send it to", (city, "CITY"), f"by {day} in {month}")
        for city, day, month in product(CITIES, DAYS, MONTHS)
    ]
    return found + [_marked(f"{who} {doing} every {day}") for who, doing, day in product(PEOPLE, _DOINGS, DAYS)]


def _score(one: str, other: str) -> float:
    shared = {*one.lower().split()} & {*other.lower().split()}
    return round(min(5.0, 5 * len(shared) / 6), 2)


def _marked(*parts: str | tuple[str, str]) -> dict[str, Any]:
    """Return a text of parts with blanks between them, and where those with a label stand."""
    text, entities = "", []
    for part in parts:
        words, label = (part, "") if isinstance(part, str) else part
        text += (" " if text else "") + words
        if label:
            entities.append({"start": len(text) - len(words), "end": len(text), "label": label})
    return {"text": text, "entities": entities, "split": "all"}


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)
