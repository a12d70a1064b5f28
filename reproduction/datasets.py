"""The paper's data sets in a folder: texts, concept and task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vecveil.audit.task_files import TaskTable
from vecveil.concepts import Concept, Passage, Span
from vecveil.concepts.annotated import Annotated
from vecveil.concepts.entities import Entities
from vecveil.core.arrays import spread_rows
from vecveil.core.errors import InvalidInputError
from vecveil.veil import read_passages

ENTITY_LABELS = (
    *("CARDINAL", "DATE", "EVENT", "FAC", "GPE", "LANGUAGE", "LAW", "LOC", "MONEY"),
    *("NORP", "ORDINAL", "ORG", "PERCENT", "PERSON", "PRODUCT", "QUANTITY", "TIME", "WORK_OF_ART"),
)
"""Every label of the pipeline that the paper names, en_core_web_sm."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much of a data set is used; None for all of it.

    Attributes:
        texts: Texts that are protected and attacked.
        pairs: Pairs of a similarity task.
        queries: Queries of a retrieval task.
        documents: Documents that they search.
    """

    texts: int | None = None
    pairs: int | None = None
    queries: int | None = None
    documents: int | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset(ABC):
    """Texts with a concept.

    Attributes:
        place: File or folder below that of all data.
        stands_in: What of the paper it stands in for, and how it differs; empty where it is the paper's.
        categories: Categories of the paper, each with the label that it has here; none where it has no such table.
    """

    place: str
    stands_in: str = ""
    categories: Mapping[str, str] = field(default_factory=dict)

    @property
    def concept(self) -> Concept:
        """What is private in it: by default what the paper takes, named entities by spaCy."""
        return Entities(labels=ENTITY_LABELS)

    @abstractmethod
    def texts(self, data: Path) -> list[Passage]:
        """Return every text."""

    def task(self, data: Path, sizes: Sizes) -> str | None:
        """Return the spec of its utility task; None where it has none."""
        del data, sizes
        return None

    def some_texts(self, data: Path, sizes: Sizes) -> list[Passage]:
        """Return the texts to use, each once: all of them, or as many as asked for, taken evenly."""
        marks: dict[str, dict[Span, None]] = {}
        for passage in self.texts(data):
            marks.setdefault(passage.text, {}).update(dict.fromkeys(passage.annotations))
        known = [Passage(text, tuple(spans)) for text, spans in marks.items()]
        return [known[row] for row in spread_rows(len(known), sizes.texts)]

    def locate(self, data: Path) -> Path:
        """Return where it is, or raise."""
        path = data / self.place
        if not path.exists():
            raise InvalidInputError(f"{data} has no {self.place}; docs/reproduction says what --data must hold")
        return path


@dataclass(frozen=True, kw_only=True)
class StsDataset(Dataset):
    """Scored pairs of sentences: both sides are the texts, and their similarity is the task."""

    def texts(self, data: Path) -> list[Passage]:
        """Return the sentences of every split, first ones first."""
        table = TaskTable.read(self.locate(data), ["sentence1", "sentence2"])
        return [Passage(text) for column in ("sentence1", "sentence2") for text in table.texts(column)]

    def task(self, data: Path, sizes: Sizes) -> str:
        """Return the similarity task on its test pairs, as MTEB has it."""
        return f"sts:{self.locate(data)},split=test" + ("" if sizes.pairs is None else f",pairs={sizes.pairs}")


@dataclass(frozen=True, kw_only=True)
class RetrievalDataset(Dataset):
    """A collection in BEIR form: some of its queries are the texts, and search is the task.

    Attributes:
        split: The queries that are the texts. The paper counts those of one split as the set's sentences.
    """

    split: str

    def texts(self, data: Path) -> list[Passage]:
        """Return the queries."""
        queries = TaskTable.read(self.locate(data) / "queries.parquet", ["text", "split"])
        return [Passage(text) for text in queries.where("split", self.split).texts("text")]

    def task(self, data: Path, sizes: Sizes) -> str:
        """Return the search, with queries and documents protected."""
        limits = {"queries": sizes.queries, "documents": sizes.documents}
        asked = "".join(f",{name}={number}" for name, number in limits.items() if number is not None)
        return f"retrieval:{self.locate(data)},protected=both,rerank=0{asked}"


@dataclass(frozen=True, kw_only=True)
class Marked(Dataset):
    """Texts whose private parts were marked by people or by the program that made them."""

    @property
    def concept(self) -> Concept:
        """What was marked under one of the labels."""
        return Annotated(labels=tuple(self.categories.values()))

    def texts(self, data: Path) -> list[Passage]:
        """Return the texts with their marks."""
        return read_passages(self.locate(data), skip_empty=True)


DATASETS: Mapping[str, Dataset] = {
    "sts12": StsDataset(place="sts12/sts12.parquet"),
    "stsb": StsDataset(place="stsb/stsb.parquet"),
    "sts14": StsDataset(place="sts14/sts14.parquet"),
    "fiqa": RetrievalDataset(
        place="fiqa", split="train", stands_in="FiQA with 15,292 of its 57,638 documents: search in it is easier"
    ),
    "quora": RetrievalDataset(
        place="quora", split="test", stands_in="Quora with 110,079 of its 522,931 questions: search in it is easier"
    ),
    "nfcorpus": RetrievalDataset(place="nfcorpus", split="train"),
    "clinical": Marked(
        place="maccrobat2020/sentences.parquet",
        stands_in="MACCROBAT 2020, case reports marked by people, in place of MIMIC-III marked by a model",
        categories={"age": "Age", "sex": "Sex", "disease": "Disease_disorder", "symptom": "Sign_symptom"},
    ),
    "pii": Marked(
        place="pii_presidio/template_fills.parquet",
        stands_in="sentences filled in from templates, in place of PII-Masking-300K; no sex is marked in them",
        categories={"city": "CITY", "state": "STATE", "country": "COUNTRY"},
    ),
}
