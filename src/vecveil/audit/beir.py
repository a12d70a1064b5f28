"""Retrieval data in a folder, in the form that the BEIR benchmark made common."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from vecveil.audit.table import Table
from vecveil.core.arrays import evenly
from vecveil.core.checks import at_least, one_of
from vecveil.core.errors import InvalidInputError, VecveilWarning

Judgements = dict[str, dict[str, int]]

ENDINGS = (".parquet", ".jsonl", ".csv", ".tsv")
USUAL_SPLIT = "test"

ID = ("_id", "id")
QUERY_ID = ("query-id", "query_id")
DOCUMENT_ID = ("corpus-id", "corpus_id", "doc_id")


@dataclass(frozen=True, kw_only=True)
class BeirFolder:
    """A folder with a corpus, queries and judgements.

    Attributes:
        target: The folder. `corpus` has an id, `text` and perhaps `title`; `queries` has an id and `text`; `qrels`, one
            file with perhaps a `split` or a folder with one file per split, has both ids and `score`.
        split: Split of the judgements; "test" where None and there are splits.
        queries: Most queries to use, taken evenly; all where None.
        documents: Number of documents to search, for a quick look: those that are judged for the queries, and others,
            taken evenly, up to this number; all where None.
    """

    what: ClassVar[str] = "FOLDER"

    target: str
    split: str | None = None
    queries: int | None = None
    documents: int | None = None

    def __post_init__(self) -> None:
        for name in ("queries", "documents"):
            if getattr(self, name) is not None:
                at_least(getattr(self, name), 1, name)

    def read(self) -> Mapping[str, Any]:
        """Return the data of a `Retrieval`, by the names of its fields."""
        folder = Path(self.target)
        asked = Table.read(_file(folder, "queries"), ["text"], optional=ID)
        texts = dict(zip(asked.own_ids(_present(asked, ID)), asked.texts("text"), strict=True))
        judgements = self._judgements(folder)
        relevant = [query for query in texts if any(grade > 0 for grade in judgements.get(query, {}).values())]
        if not relevant:
            raise InvalidInputError(f"no judgement in {folder} finds something relevant to its {len(texts)} queries")
        chosen = _evenly(relevant, self.queries)
        judgements = {query: judgements[query] for query in chosen}
        return {
            "queries": {query: texts[query] for query in chosen},
            "documents": self._documents(folder, {one for grades in judgements.values() for one in grades}),
            "judgements": judgements,
            "source": self._source(folder),
        }

    def _judgements(self, folder: Path) -> Judgements:
        table = self._split(folder)
        queries, documents = table.ids(_present(table, QUERY_ID)), table.ids(_present(table, DOCUMENT_ID))
        found: Judgements = {}
        rows = zip(table.rows, queries, documents, table.whole_numbers("score"), strict=True)
        for row, query, document, grade in rows:
            if found.setdefault(query, {}).setdefault(document, grade) != grade:
                raise InvalidInputError(f"{table.path}: row {row} grades a document that has another grade already")
        return found

    def _split(self, folder: Path) -> Table:
        wanted, optional = str(self.split or USUAL_SPLIT), (*QUERY_ID, *DOCUMENT_ID, "split")
        if (folder / "qrels").is_dir():
            files = {path.stem: path for path in (folder / "qrels").iterdir() if path.suffix in ENDINGS}
            return Table.read(files[one_of(wanted, files, f"split of {folder}")], ["score"], optional=optional)
        table = Table.read(_file(folder, "qrels"), ["score"], optional=optional)
        if self.split is None and "split" not in table.names:
            return table
        return table.where(_present(table, ["split"]), wanted)

    def _documents(self, folder: Path, judged: Collection[str]) -> Mapping[str, str]:
        table = Table.read(_file(folder, "corpus"), ["text"], optional=[*ID, "title"])
        bodies = table.texts("text", blank=True)
        titles = table.texts("title", blank=True) if "title" in table.names else [""] * len(bodies)
        whole = (f"{title} {body}".strip() for title, body in zip(titles, bodies, strict=True))
        # Some corpora of BEIR have documents without a word, which no one can find.
        texts = {one: text for one, text in zip(table.own_ids(_present(table, ID)), whole, strict=True) if text}
        there = [document for document in judged if document in texts]
        if not there:
            raise InvalidInputError(f"no judgement in {folder} is about one of its {len(texts)} documents")
        if len(there) < len(judged):
            message = f"of {len(judged)} judged documents, {table.path} has {len(there)}; the others count as not found"
            warnings.warn(message, VecveilWarning, stacklevel=2)
        if self.documents is None:
            return texts
        others = _evenly([one for one in texts if one not in judged], max(0, self.documents - len(there)))
        kept = {*there, *others}
        return {document: text for document, text in texts.items() if document in kept}

    def _source(self, folder: Path) -> str:
        parts = [] if self.split in {None, USUAL_SPLIT} else [str(self.split)]
        parts += [f"{count} {name}" for name in ("queries", "documents") if (count := getattr(self, name)) is not None]
        return folder.resolve().name + (f"[{', '.join(parts)}]" if parts else "")


def _file(folder: Path, name: str) -> Path:
    if not folder.is_dir():
        raise InvalidInputError(f"there is no folder {folder}")
    for ending in ENDINGS:
        if (path := folder / f"{name}{ending}").is_file():
            return path
    raise InvalidInputError(
        f"{folder} is no folder in BEIR form, {name} is missing: it must have corpus.jsonl, queries.jsonl and "
        "qrels/test.tsv, or corpus.parquet, queries.parquet and qrels.parquet; "
        f"it has {', '.join(sorted(path.name for path in folder.iterdir())) or 'no files'}"
    )


def _present(table: Table, choices: Sequence[str]) -> str:
    """Return the first of some names that a column has, or raise for want of the usual one."""
    return next((name for name in choices if name in table.names), None) or one_of(
        choices[0], table.names, f"column of {table.path}"
    )


def _evenly(items: Sequence[str], count: int | None) -> Sequence[str]:
    return [items[place] for place in evenly(len(items), count)]
