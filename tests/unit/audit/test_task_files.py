from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from support.tasks import DOCUMENTS, JUDGMENTS, QUERIES
from support.veils import PRIVATE_WORD
from vecveil.audit.task_files import BeirFolder, TaskTable
from vecveil.core.errors import InvalidInputError, UnknownNameError, VecveilWarning

ROWS = [(query, document, grade) for query, grades in JUDGMENTS.items() for document, grade in grades.items()]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A folder as BEIR releases them."""
    folder = tmp_path / "topics"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": key, "title": "On", "text": text, "metadata": {}} for key, text in DOCUMENTS.items()]
    queries = [
        {"_id": key, "text": text, "metadata": {"url": "u"} if key == "q0" else {}} for key, text in QUERIES.items()
    ]
    for name, rows in {"corpus": corpus, "queries": queries}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    write_qrels(folder, ROWS)
    return folder


def write_qrels(folder: Path, rows: list[tuple[str, str, Any]], split: str = "test") -> None:
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in rows)]
    (folder / "qrels" / f"{split}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """The same as Parquet tables, with splits."""
    folder = tmp_path / "tables"
    folder.mkdir()
    write(folder, "corpus", id=list(DOCUMENTS), text=list(DOCUMENTS.values()))
    write(folder, "queries", id=list(QUERIES), text=list(QUERIES.values()), split=["test"] * len(QUERIES))
    queries, documents, grades = zip(*ROWS, strict=True)
    splits = ["train" if query == "q0" else "test" for query in queries]
    write(folder, "qrels", query_id=queries, doc_id=documents, score=pa.array(grades, pa.int8()), split=splits)
    return folder


def write(folder: Path, name: str, **columns: Any) -> None:
    parquet.write_table(pa.table(columns), folder / f"{name}.parquet")


def read(folder: Path, **settings: Any) -> Mapping[str, Any]:
    return BeirFolder(target=str(folder), **settings).read()


def test_a_release_of_beir_is_read(release: Path) -> None:
    data = read(release)
    assert data["queries"] == QUERIES
    assert data["judgments"] == JUDGMENTS
    assert data["documents"] == {key: f"On {text}" for key, text in DOCUMENTS.items()}
    assert data["source"] == "topics"


def test_tables_with_splits_are_read(tables: Path) -> None:
    data = read(tables)
    assert set(data["queries"]) == set(QUERIES) - {"q0"}
    assert data["documents"] == DOCUMENTS
    train = read(tables, split="train")
    assert set(train["queries"]) == {"q0"}
    assert train["source"] == "tables[train]"


def test_judgments_without_splits_are_all_used(tables: Path) -> None:
    queries, documents, grades = zip(*ROWS, strict=True)
    write(tables, "qrels", query_id=queries, corpus_id=documents, score=grades)
    assert read(tables)["judgments"] == JUDGMENTS
    with pytest.raises(UnknownNameError, match=r"column of .*qrels\.parquet 'split'"):
        read(tables, split="test")


def test_an_unknown_split_is_refused_with_those_that_are_there(release: Path, tables: Path) -> None:
    write_qrels(release, ROWS, "dev")
    with pytest.raises(UnknownNameError, match=r"unknown split of .*topics 'train' \(known: dev, test\)"):
        read(release, split="train")
    with pytest.raises(UnknownNameError, match=r"unknown split of .* 'dev' \(known: test, train\)"):
        read(tables, split="dev")


def test_fewer_queries_and_documents_keep_what_is_judged(release: Path) -> None:
    data = read(release, queries=2, documents=20)
    assert list(data["queries"]) == ["q0", "q5"]
    judged = {document for query in data["queries"] for document in JUDGMENTS[query]}
    assert len(data["documents"]) == 20
    assert judged <= set(data["documents"])
    assert list(data["documents"]) == [document for document in DOCUMENTS if document in data["documents"]]
    assert data["source"] == "topics[2 queries, 20 documents]"
    assert set(read(release, queries=2, documents=1)["documents"]) == judged


def test_documents_without_a_word_are_left_out(tables: Path) -> None:
    write(tables, "corpus", id=[*DOCUMENTS, "blank"], title=[None] * 37, text=[*DOCUMENTS.values(), " "])
    assert read(tables)["documents"] == DOCUMENTS


def test_judged_documents_that_are_missing_are_told(release: Path) -> None:
    write_qrels(release, [*ROWS, ("q0", "elsewhere", 1)])
    with pytest.warns(VecveilWarning, match=r"of 37 judged documents, .*corpus.jsonl has 36; the others count as not"):
        assert read(release)["judgments"]["q0"]["elsewhere"] == 1


def test_a_folder_in_another_form_is_refused_with_what_it_has(tmp_path: Path, release: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(
        InvalidInputError, match=r"queries is missing: it must have corpus\.jsonl, .* it has notes.txt, topics"
    ):
        read(tmp_path)
    with pytest.raises(InvalidInputError, match=r"there is no folder .*nowhere"):
        read(tmp_path / "nowhere")
    (release / "corpus.jsonl").rename(release / "documents.jsonl")
    with pytest.raises(InvalidInputError, match="corpus is missing"):
        read(release)


def test_judgments_about_something_else_are_refused(release: Path) -> None:
    write_qrels(release, [("another", "d0", 1)])
    with pytest.raises(InvalidInputError, match=r"no judgment in .*topics finds something relevant to its 6 queries"):
        read(release)
    write_qrels(release, [("q0", "another", 1)])
    with pytest.raises(InvalidInputError, match=r"no judgment in .*topics is about one of its 36 documents"):
        read(release)


def test_judgments_that_are_none_are_refused(release: Path) -> None:
    write_qrels(release, [("q0", "d0", "yes")])
    with pytest.raises(
        InvalidInputError, match=r"test\.tsv: 'score' must hold a whole number in every row, but not in row 0"
    ):
        read(release)
    write_qrels(release, [("q0", "d0", 1), ("q0", "d0", 2)])
    with pytest.raises(InvalidInputError, match="row 1 grades a document that has another grade already"):
        read(release)


def test_ids_that_occur_twice_are_refused(tables: Path) -> None:
    write(tables, "corpus", id=["d0", "d1", "d0"], text=["a", "b", "c"])
    with pytest.raises(InvalidInputError, match=r"corpus\.parquet: row 2 has the same 'id' as row 0"):
        read(tables)


def test_missing_columns_are_named(tables: Path) -> None:
    write(tables, "queries", number=["q0"], text=["a"])
    with pytest.raises(UnknownNameError, match=r"column of .*queries.parquet '_id' \(known: number, text\)"):
        read(tables)


def test_limits_are_whole_numbers() -> None:
    with pytest.raises(InvalidInputError, match="queries must be a whole number of at least 1, got 0"):
        BeirFolder(target="x", queries=0)
    with pytest.raises(InvalidInputError, match="documents must be a whole number of at least 1, got 'few'"):
        BeirFolder(target="x", documents="few")


def written(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_read_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "id,text,score\n007,one,4.5\n008,two,1\n")
    table = TaskTable.read(path, ["text"], optional=["id", "title"])
    assert table.names == ("id", "text", "score")
    assert table.columns == {"text": ["one", "two"], "id": ["007", "008"]}


def test_a_missing_column_is_named_beside_those_that_are_there(tmp_path: Path) -> None:
    path = written(tmp_path, "sentence_1,sentence2,score\na,b,1\n")
    with pytest.raises(
        UnknownNameError, match=r"table\.csv 'sentence1'; did you mean .*\(known: score, sentence2, sente"
    ):
        TaskTable.read(path, ["sentence1"])


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"table\.csv has no rows"):
        TaskTable.read(written(tmp_path, "text\n"), ["text"])


def test_rows_are_chosen_by_value_and_keep_their_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "text,split\na,dev\nb,test\n,test\n")
    table = TaskTable.read(path, ["text", "split"])
    assert table.where("split", "dev").texts("text") == ["a"]
    with pytest.raises(InvalidInputError, match="'text' must hold a text in every row, but not in row 2"):
        table.where("split", "test").texts("text")
    with pytest.raises(
        UnknownNameError, match=r"unknown split of .* 'tets'; did you mean 'test'\? \(known: dev, test\)"
    ):
        table.where("split", "tets")


def test_numbers_may_be_written_as_text(tmp_path: Path) -> None:
    table = TaskTable.read(written(tmp_path, "score\n1\n2.5\n-3e-1\n"), ["score"])
    assert table.numbers("score") == [1.0, 2.5, -0.3]
    with pytest.raises(InvalidInputError, match="'score' must hold a whole number in every row, but not in row 1"):
        table.whole_numbers("score")


@pytest.mark.parametrize("value", [PRIVATE_WORD, "", "nan", "inf", "1,5"])
def test_what_is_no_number_is_not_shown(value: str, tmp_path: Path) -> None:
    table = TaskTable.read(written(tmp_path, f'score\n1\n"{value}"\n2\n'), ["score"])
    with pytest.raises(
        InvalidInputError, match=r"table\.csv: 'score' must hold a number in every row, but not in row 1"
    ) as error:
        table.numbers("score")
    assert PRIVATE_WORD not in str(error.value)


def test_truth_values_are_neither_numbers_nor_ids(tmp_path: Path) -> None:
    table = TaskTable.read(written(tmp_path, '{"score": true}\n', "table.jsonl"), ["score"])
    with pytest.raises(InvalidInputError, match="must hold a number"):
        table.numbers("score")
    with pytest.raises(InvalidInputError, match="must hold an id"):
        table.ids("score")


def test_ids_are_strings_and_unique_where_they_must_be(tmp_path: Path) -> None:
    table = TaskTable.read(written(tmp_path, '{"id": 63}\n{"id": 7}\n{"id": 63}\n', "table.jsonl"), ["id"])
    assert table.ids("id") == ["63", "7", "63"]
    with pytest.raises(InvalidInputError, match=r"table\.jsonl: row 2 has the same 'id' as row 0"):
        table.own_ids("id")


def test_blank_texts_are_texts_where_that_is_allowed(tmp_path: Path) -> None:
    table = TaskTable.read(
        written(tmp_path, '{"title": null}\n{"title": ""}\n{"title": "a"}\n', "table.jsonl"), ["title"]
    )
    assert table.texts("title", blank=True) == ["", "", "a"]
    with pytest.raises(InvalidInputError, match="not in row 0"):
        table.texts("title")
