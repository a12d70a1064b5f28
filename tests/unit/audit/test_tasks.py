from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from support.mteb_tasks import SharedWordsSTS, loaded
from support.tasks import DOCUMENTS, JUDGMENTS, PAIRS, QUERIES, TEXTS
from vecveil.audit import tasks
from vecveil.audit.tasks import build_task
from vecveil.concepts import Span
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.core.registry import Registry
from vecveil.testing.tasks import WordEncoder
from vecveil.utility import Encoder, Neighbors, Retrieval, Sts, TaskScores
from vecveil.utility.known_item import KnownItem
from vecveil.utility.mteb import Mteb
from vecveil.utility.queries import Queries as QueriesTask

LONG = tuple(f"{one} {other}" for one, other in zip(TEXTS, TEXTS[7:] + TEXTS[:7], strict=True))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sentence1", "sentence2", "score", "split"])
        writer.writerows((*pair, "test" if row % 3 else "2012") for row, pair in enumerate(PAIRS))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    columns = {
        "corpus": {"id": list(DOCUMENTS), "text": list(DOCUMENTS.values())},
        "queries": {"id": list(QUERIES), "text": list(QUERIES.values())},
        "qrels": {
            "query_id": [query for query, grades in JUDGMENTS.items() for _ in grades],
            "doc_id": [document for grades in JUDGMENTS.values() for document in grades],
            "score": [grade for grades in JUDGMENTS.values() for grade in grades.values()],
        },
    }
    (tmp_path / "topics").mkdir()
    for name, table in columns.items():
        parquet.write_table(pa.table(table), tmp_path / "topics" / f"{name}.parquet")
    return tmp_path / "topics"


def test_neighbors_are_of_the_texts_at_hand() -> None:
    task = build_task("neighbors,neighbors=4,protected=documents", texts=TEXTS)
    assert task == Neighbors(texts=TEXTS, neighbors=4, protected="documents")


def test_neighbors_may_be_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    task = build_task(f"neighbors:{tmp_path / 'notes.txt'}", texts=["other"])
    assert task == Neighbors(texts=TEXTS, source="notes.txt")


def test_sts_is_read_from_a_file(pairs: Path) -> None:
    task = build_task(f"sts:{pairs}")
    assert isinstance(task, Sts)
    assert tuple(zip(task.first, task.second, task.scores, strict=True)) == PAIRS
    assert task.label == "sts:pairs.csv"


def test_a_split_may_be_a_number(pairs: Path) -> None:
    task = build_task(f"sts:{pairs},split=2012,protected=queries")
    assert isinstance(task, Sts)
    assert len(task.scores) == len(PAIRS) // 3
    assert task.label == "sts:pairs.csv[2012] (queries protected)"


def test_some_pairs_of_a_file_are_taken_evenly(tmp_path: Path) -> None:
    rows = "\n".join(f"a{row},b{row},{row}" for row in range(5))
    (tmp_path / "p.csv").write_text(f"sentence1,sentence2,score\n{rows}\n", encoding="utf-8")
    task = build_task(f"sts:{tmp_path / 'p.csv'},pairs=3")
    assert isinstance(task, Sts)
    assert (task.first, task.second, task.scores) == (("a0", "a2", "a4"), ("b0", "b2", "b4"), (0.0, 2.0, 4.0))
    assert task.label == "sts:p.csv[3 pairs]"
    with pytest.raises(InvalidInputError, match="pairs must be a whole number of at least 2, got 1"):
        build_task(f"sts:{tmp_path / 'p.csv'},pairs=1")


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(
        '{"a": "x", "b": "y", "gold": 1}\n{"a": "x", "b": "z", "gold": 2}\n', encoding="utf-8"
    )
    task = build_task(f"sts:{tmp_path / 'p.jsonl'},sentence1=a,sentence2=b,score=gold")
    assert task == Sts(first=("x", "x"), second=("y", "z"), scores=(1.0, 2.0), source="p.jsonl")


def test_retrieval_is_read_from_a_folder(folder: Path) -> None:
    task = build_task(f"retrieval:{folder},queries=3,protected=documents,same_ids=true")
    assert isinstance(task, Retrieval)
    assert task.same_ids
    assert len(task.queries) == 3
    assert task.label == "retrieval:topics[3 queries]"
    assert task.score(WordEncoder()).scores["ndcg@10"] > 0.9


def test_mteb_is_asked_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load(name: str, **settings: str) -> Any:
        asked.append((name, settings))
        return loaded(SharedWordsSTS)

    monkeypatch.setattr(tasks, "load_mteb", load)
    task = build_task("mteb:SharedWordsSTS,split=test")
    assert isinstance(task, Mteb)
    assert task.label == "mteb:SharedWordsSTS[test]"
    assert asked == [("SharedWordsSTS", {"split": "test"})]


def test_an_unknown_task_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="unknown utility task 'neighbours'; did you mean 'neighbors'"):
        build_task("neighbours")


def test_an_unknown_setting_is_refused_with_a_guess(pairs: Path, folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="setting of the utility task 'sts' 'splits'; did you mean 'split'"):
        build_task(f"sts:{pairs},splits=test")
    with pytest.raises(UnknownNameError, match="setting of the utility task 'retrieval' 'judgments'"):
        build_task(f"retrieval:{folder},judgments=1")
    with pytest.raises(UnknownNameError, match="setting of the utility task 'neighbors' 'text_column'"):
        build_task("neighbors,text_column=body", texts=TEXTS)
    with pytest.raises(UnknownNameError, match="unknown protected side 'docs'"):
        build_task(f"sts:{pairs},protected=docs")


@pytest.mark.parametrize(("name", "what"), [("sts", "FILE"), ("retrieval", "FOLDER"), ("mteb", "NAME")])
def test_a_task_that_needs_data_says_so(name: str, what: str) -> None:
    with pytest.raises(InvalidInputError, match=f"the utility task '{name}' needs a {what}: write {name}:{what}"):
        build_task(name)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidInputError, match=r"there is no file nowhere\.csv"):
        build_task("sts:nowhere.csv")


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """A task of another package."""

    target: str = ""
    strict: bool = False

    @property
    def label(self) -> str:
        return f"foreign:{self.target}"

    def score(self, encoder: Encoder) -> TaskScores:
        return TaskScores(main="one", scores={"one": 1.0}, protected="both", cases=len(encoder.embed_clean(["a"])))


@dataclass(frozen=True, kw_only=True)
class Aimless:
    """A task of another package that is about nothing in particular."""

    label: str = "aimless"

    def score(self, encoder: Encoder) -> TaskScores:
        return Foreign().score(encoder)


def test_a_task_of_another_package_gets_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"foreign": f"{__name__}:Foreign", "aimless": f"{__name__}:Aimless"}
    monkeypatch.setattr(tasks, "UTILITY_TASKS", Registry(kind="utility task", builtin=names, group="vecveil.nothing"))
    assert build_task("foreign:here,strict=true") == Foreign(target="here", strict=True)
    assert build_task("foreign") == Foreign()
    with pytest.raises(UnknownNameError, match="'strikt'; did you mean 'strict'"):
        build_task("foreign,strikt=true")
    with pytest.raises(InvalidInputError, match="'aimless' takes nothing after a colon, got 'here'"):
        build_task("aimless:here")


def test_known_items_are_searched_in_the_texts_at_hand_with_what_is_private_in_them() -> None:
    private = [(Span(0, 3, "X"),)] + [()] * (len(LONG) - 1)
    task = build_task("known-item,words=3", texts=LONG, private=private)
    assert task == KnownItem(texts=LONG, private=(((0, 3),), *((),) * (len(LONG) - 1)), words=3)


def test_known_items_of_a_file_know_nothing_of_the_concept(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("\n".join(LONG), encoding="utf-8")
    task = build_task(f"known-item:{tmp_path / 'notes.txt'}", texts=["other"], private=[()])
    assert task == KnownItem(texts=LONG, source="notes.txt")


def test_queries_of_a_file_are_asked_of_the_texts_at_hand(tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("\n".join(QUERIES.values()), encoding="utf-8")
    task = build_task(f"queries:{tmp_path / 'asked.txt'},hits=3", texts=TEXTS)
    assert task == QueriesTask(texts=TEXTS, queries=tuple(QUERIES.values()), hits=3, source="asked.txt")


def test_queries_need_a_file() -> None:
    with pytest.raises(InvalidInputError, match="needs a FILE: write queries:FILE"):
        build_task("queries", texts=TEXTS)
