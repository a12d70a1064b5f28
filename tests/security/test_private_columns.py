"""Short columns that hold private words don't go along into what is protected."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import CommandLine, check_refusal
from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors
from vecveil.concepts import anything, patterns, terms
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.files.vectors import to_vector_column
from vecveil.integrations.engines import Columns
from vecveil.migrate.fields import TextFinder
from vecveil.veil import Guard, Veil, protect_file
from vecveil.veil.values import ConceptFinder

CONCEPT = terms("asthma", "gout", label="DISEASE") | patterns(NAME="Okafor|Lindqvist")
ROWS = 600


def _veil() -> Veil:
    return replace(made_veil(epsilon=30.0), concept=CONCEPT)


def _table(**columns: object) -> pa.Table:
    plain = {"id": [f"n{row}" for row in range(ROWS)], "text": [f"note {row}" for row in range(ROWS)]}
    return pa.table({**plain, **columns})


def _write(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


PRIVATE = {
    "diagnosis": ["gout" if row % 7 else "well" for row in range(ROWS)],
    # The one private value stands where no sample sees it.
    "remark": ["seen" if row < ROWS - 1 else "Asthma." for row in range(ROWS)],
    "people": [["A. Lindqvist"] if row == 300 else ["B."] for row in range(ROWS)],
    "record": [{"doctor": "Okafor" if row == 3 else "x"} for row in range(ROWS)],
}


@pytest.mark.parametrize("name", PRIVATE)
def test_a_column_that_the_concept_finds_words_in_is_left_out(tmp_path: Path, name: str) -> None:
    source = _write(tmp_path / "in.parquet", _table(**{name: PRIVATE[name], "ward": ["north"] * ROWS}))
    report = protect_file(_veil(), source, tmp_path / "out.parquet", embedder=WordEmbedder(), id_column="id")
    assert report.private == (name,)
    assert name in report.dropped
    assert pq.read_schema(tmp_path / "out.parquet").names == ["id", "ward", "vector"]
    content = (tmp_path / "out.parquet").read_bytes()
    assert not any(word in content for word in (b"gout", b"sthma", b"Lindqvist", b"Okafor"))


def test_the_same_holds_for_files_of_vectors(tmp_path: Path) -> None:
    table = pa.table({"diagnosis": PRIVATE["diagnosis"], "vector": to_vector_column(unit_vectors(ROWS))})
    report = protect_file(_veil(), _write(tmp_path / "in.parquet", table), tmp_path / "out.parquet")
    assert (report.carried, report.private) == ((), ("diagnosis",))


def test_a_column_is_kept_on_purpose(tmp_path: Path) -> None:
    source = _write(tmp_path / "in.parquet", _table(diagnosis=PRIVATE["diagnosis"]))
    report = protect_file(
        _veil(), source, tmp_path / "out.parquet", embedder=WordEmbedder(), keep=("diagnosis",), id_column="id"
    )
    assert report.carried == ("id", "diagnosis")


def test_an_id_column_is_not_dropped_without_a_word(tmp_path: Path) -> None:
    source = _write(tmp_path / "in.parquet", _table(id=["Okafor"] + [f"n{row}" for row in range(1, ROWS)]))
    with pytest.raises(InvalidInputError, match="words in the id column 'id'"):
        protect_file(_veil(), source, tmp_path / "out.parquet", embedder=WordEmbedder(), id_column="id")
    assert not (tmp_path / "out.parquet").exists()


def test_a_concept_that_the_veil_does_not_keep_can_be_named(
    run: CommandLine, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(_veil(), concept=None).save(work / "a.veil")
    table = pa.table({"diagnosis": PRIVATE["diagnosis"], "vector": to_vector_column(unit_vectors(ROWS))})
    _write(work / "in.parquet", table)
    (work / "concept.toml").write_text('[[part]]\nkind = "terms"\nterms = ["gout"]\n')
    outcome = run("protect", "a.veil", "in.parquet", "one.parquet", "--no-ledger")
    assert outcome.code == 0, outcome.err
    assert "other columns were not searched for the concept: name it with --concept" in outcome.err
    outcome = run("protect", "a.veil", "in.parquet", "two.parquet", "--no-ledger", "--concept", "concept.toml")
    assert "the concept finds words in diagnosis" in outcome.err
    assert pq.read_schema(work / "two.parquet").names == ["vector"]
    assert "gout" not in outcome.err + outcome.out
    check_refusal(run("protect", "a.veil", "in.parquet", "three.parquet", "--concept", "none.toml"), "none.toml")


def test_an_output_is_searched_before_it_is_finished(tmp_path: Path) -> None:
    """On an engine, the plan is made from a sample; a later part that disagrees with it stops the work."""
    guard = Guard(_veil(), key=Key.new(), embedder=WordEmbedder())
    table = _table(remark=PRIVATE["remark"]).combine_chunks()
    protection = Columns(id_column="id").make_protection(guard, table.schema, table.slice(0, 256))
    first, last = table.slice(0, 300).to_batches()[0], table.slice(300).to_batches()[0]
    assert protection(first).num_rows == 300
    with pytest.raises(InvalidInputError, match=r"words in the column 'remark'.*--keep"):
        protection(last)


def test_fields_of_a_store_are_searched_too() -> None:
    finder = TextFinder(ConceptFinder(CONCEPT))
    finder.add([{"ward": "north", "diagnosis": "gout", "staff": {"doctor": "Okafor"}}, {"ward": "south"}])
    assert finder.find_texts() == [("diagnosis",), ("staff", "doctor")]
    assert ("ward",) in finder.find_others(finder.find_texts())


def test_a_concept_that_every_text_holds_names_no_column() -> None:
    assert not ConceptFinder(anything()).finds(["everything here is a word"])


@pytest.mark.parametrize(
    "columns",
    [
        {"has_gout": [True] * ROWS},
        {"age": [40 + row % 50 for row in range(ROWS)]},
        {"seen": [date(1980 + row % 20, 1, 2) for row in range(ROWS)]},
        {"more": [{"gout": 1, "cold": 0}] * ROWS},
    ],
)
def test_names_and_numbers_of_columns_are_searched_too(tmp_path: Path, columns: dict[str, object]) -> None:
    veil = replace(_veil(), concept=CONCEPT | patterns(AGE=r"\b[4-8]\d\b", DATE=r"\d{4}-\d\d-\d\d"))
    source = _write(tmp_path / "in.parquet", _table(**columns, ward=["north"] * ROWS, floor=[1] * ROWS))
    report = protect_file(veil, source, tmp_path / "out.parquet", embedder=WordEmbedder(), id_column="id")
    assert pq.read_schema(tmp_path / "out.parquet").names == ["id", "ward", "floor", "vector"]
    finder = ConceptFinder(veil.concept)
    assert not any(finder.finds([name]) for name in report.dropped)
