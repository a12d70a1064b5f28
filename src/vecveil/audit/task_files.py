"""Data files of utility tasks: tables, scored pairs, BEIR folders."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from vecveil.core.arrays import spread_rows
from vecveil.core.checks import at_least, one_of
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.files import open_source

T = TypeVar("T")

BATCH = 4096

Judgments = dict[str, dict[str, int]]

ENDINGS = (".parquet", ".jsonl", ".csv", ".tsv")
USUAL_SPLIT = "test"

ID = ("_id", "id")
QUERY_ID = ("query-id", "query_id")
DOCUMENT_ID = ("corpus-id", "corpus_id", "doc_id")


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskTable:
    """Rows of a file. Errors name file, column and row, counted from 0, and never show what is there.

    Attributes:
        path: The file.
        names: Its columns, those that were not read too.
        columns: The values of those that were read.
        rows: The row of each value in the file.
    """

    path: Path
    names: tuple[str, ...]
    columns: dict[str, list[Any]] = field(repr=False)
    rows: Sequence[int] = field(repr=False)

    @classmethod
    def read(cls, path: Path, columns: Sequence[str], *, optional: Sequence[str] = ()) -> Self:
        """Return the named columns of a file, and those of the `optional` ones that it has."""
        source = open_source(path)
        names = tuple(source.schema.names)
        for name in columns:
            one_of(name, names, f"column of {path}")
        if source.rows == 0:
            raise InvalidInputError(f"{path} has no rows")
        values: dict[str, list[Any]] = {name: [] for name in (*columns, *optional) if name in names}
        for batch in source.batches(BATCH):
            for name, column in values.items():
                column.extend(batch.column(name).to_pylist())
        return cls(path=path, names=names, columns=values, rows=range(source.rows))

    def where(self, column: str, value: str) -> Self:
        """Return the rows that have `value` in `column`."""
        found = [str(one) for one in self.columns[column]]
        one_of(value, set(found), f"{column} of {self.path}")
        return self._at([place for place, one in enumerate(found) if one == value])

    def some(self, most: int | None) -> Self:
        """Return at most so many rows, taken evenly; all where None."""
        return self._at(spread_rows(len(self.rows), most).tolist())

    def _at(self, places: Sequence[int]) -> Self:
        columns = {name: [values[place] for place in places] for name, values in self.columns.items()}
        return type(self)(path=self.path, names=self.names, columns=columns, rows=[self.rows[one] for one in places])

    def texts(self, column: str, *, blank: bool = False) -> list[str]:
        """Return the column, all of it texts with something in them; where `blank`, nothing is a text too."""
        return self._values(column, _blank_or_text if blank else _text, "a text")

    def numbers(self, column: str) -> list[float]:
        """Return the column, all of it finite numbers; text that reads as one is one."""
        return self._values(column, _number, "a number")

    def whole_numbers(self, column: str) -> list[int]:
        """Return the column, all of it whole numbers."""
        return self._values(column, _whole_number, "a whole number")

    def ids(self, column: str) -> list[str]:
        """Return the column, all of it ids."""
        return self._values(column, _identity, "an id")

    def own_ids(self, column: str) -> list[str]:
        """Return the column, all of it ids, none of them twice."""
        ids = self.ids(column)
        first: dict[str, int] = {}
        for row, one in zip(self.rows, ids, strict=True):
            if first.setdefault(one, row) != row:
                raise InvalidInputError(f"{self.path}: row {row} has the same {column!r} as row {first[one]}")
        return ids

    def _values(self, column: str, convert: Callable[[Any], T | None], kind: str) -> list[T]:
        found = []
        for row, value in zip(self.rows, self.columns[column], strict=True):
            converted = convert(value)
            if converted is None:
                raise InvalidInputError(f"{self.path}: {column!r} must hold {kind} in every row, but not in row {row}")
            found.append(converted)
        return found


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _blank_or_text(value: Any) -> str | None:
    return "" if value is None else value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _whole_number(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _identity(value: Any) -> str | None:
    # Some writers make numbers of ids such as 63, in one file of a set and not in the other.
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, kw_only=True)
class PairsFile:
    """A table with two texts and a score in each row.

    Attributes:
        target: Parquet, Arrow, JSONL, CSV or TSV.
        sentence1: Column of the first texts.
        sentence2: Column of the second texts.
        score: Column of the scores.
        split: The rows to use: those with this value in `split_column`; all where None.
        split_column: Column that tells the split of a row.
        pairs: Most pairs to use, taken evenly; all where None.
    """

    what: ClassVar[str] = "FILE"

    target: str
    sentence1: str = "sentence1"
    sentence2: str = "sentence2"
    score: str = "score"
    split: str | None = None
    split_column: str = "split"
    pairs: int | None = None

    def __post_init__(self) -> None:
        if self.pairs is not None:
            at_least(self.pairs, 2, "pairs")

    def read(self) -> Mapping[str, Any]:
        """Return the data of an `Sts`, by the names of its fields."""
        path = Path(self.target)
        columns = [self.sentence1, self.sentence2, self.score]
        wanted = [] if self.split is None else [self.split_column]
        table = TaskTable.read(path, [*columns, *wanted])
        if self.split is not None:
            table = table.where(self.split_column, str(self.split))
        parts = [] if self.split is None else [str(self.split)]
        parts += [] if self.pairs is None else [f"{self.pairs} pairs"]
        table = table.some(self.pairs)
        return {
            "first": tuple(table.texts(self.sentence1)),
            "second": tuple(table.texts(self.sentence2)),
            "scores": tuple(table.numbers(self.score)),
            "source": path.name + (f"[{', '.join(parts)}]" if parts else ""),
        }


@dataclass(frozen=True, kw_only=True)
class BeirFolder:
    """A folder with a corpus, queries and judgments.

    Attributes:
        target: The folder. `corpus` has an id, `text` and perhaps `title`; `queries` has an id and `text`; `qrels`, one
            file with perhaps a `split` or a folder with one file per split, has both ids and `score`.
        split: Split of the judgments; "test" where None and there are splits.
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
        asked = TaskTable.read(_file(folder, "queries"), ["text"], optional=ID)
        texts = dict(zip(asked.own_ids(_present(asked, ID)), asked.texts("text"), strict=True))
        judgments = self._judgments(folder)
        relevant = [query for query in texts if any(grade > 0 for grade in judgments.get(query, {}).values())]
        if not relevant:
            raise InvalidInputError(f"no judgment in {folder} finds something relevant to its {len(texts)} queries")
        chosen = _spread(relevant, self.queries)
        judgments = {query: judgments[query] for query in chosen}
        return {
            "queries": {query: texts[query] for query in chosen},
            "documents": self._documents(folder, {one for grades in judgments.values() for one in grades}),
            "judgments": judgments,
            "source": self._source(folder),
        }

    def _judgments(self, folder: Path) -> Judgments:
        table = self._split(folder)
        queries, documents = table.ids(_present(table, QUERY_ID)), table.ids(_present(table, DOCUMENT_ID))
        found: Judgments = {}
        rows = zip(table.rows, queries, documents, table.whole_numbers("score"), strict=True)
        for row, query, document, grade in rows:
            if found.setdefault(query, {}).setdefault(document, grade) != grade:
                raise InvalidInputError(f"{table.path}: row {row} grades a document that has another grade already")
        return found

    def _split(self, folder: Path) -> TaskTable:
        wanted, optional = str(self.split or USUAL_SPLIT), (*QUERY_ID, *DOCUMENT_ID, "split")
        if (folder / "qrels").is_dir():
            files = {path.stem: path for path in (folder / "qrels").iterdir() if path.suffix in ENDINGS}
            return TaskTable.read(files[one_of(wanted, files, f"split of {folder}")], ["score"], optional=optional)
        table = TaskTable.read(_file(folder, "qrels"), ["score"], optional=optional)
        if self.split is None and "split" not in table.names:
            return table
        return table.where(_present(table, ["split"]), wanted)

    def _documents(self, folder: Path, judged: Collection[str]) -> Mapping[str, str]:
        table = TaskTable.read(_file(folder, "corpus"), ["text"], optional=[*ID, "title"])
        bodies = table.texts("text", blank=True)
        titles = table.texts("title", blank=True) if "title" in table.names else [""] * len(bodies)
        whole = (f"{title} {body}".strip() for title, body in zip(titles, bodies, strict=True))
        # Some corpora of BEIR have documents without a word, which no one can find.
        texts = {one: text for one, text in zip(table.own_ids(_present(table, ID)), whole, strict=True) if text}
        there = [document for document in judged if document in texts]
        if not there:
            raise InvalidInputError(f"no judgment in {folder} is about one of its {len(texts)} documents")
        if len(there) < len(judged):
            message = f"of {len(judged)} judged documents, {table.path} has {len(there)}; the others count as not found"
            warnings.warn(message, VecveilWarning, stacklevel=2)
        if self.documents is None:
            return texts
        others = _spread([one for one in texts if one not in judged], max(0, self.documents - len(there)))
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


def _present(table: TaskTable, choices: Sequence[str]) -> str:
    """Return the first of some names that a column has, or raise for want of the usual one."""
    return next((name for name in choices if name in table.names), None) or one_of(
        choices[0], table.names, f"column of {table.path}"
    )


def _spread(items: Sequence[str], count: int | None) -> Sequence[str]:
    return [items[place] for place in spread_rows(len(items), count)]
