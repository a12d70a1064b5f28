from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import listing
from support.embedders import WordEmbedder
from support.ledgers import read_spent
from support.veils import PRIVATE_WORD, made_veil, unit_vectors
from vecveil.concepts import patterns, terms
from vecveil.core.errors import (
    ArtifactError,
    BudgetExceededError,
    InvalidInputError,
    InvalidRowError,
    VecveilError,
)
from vecveil.core.key import Key
from vecveil.core.progress import Progress, silent
from vecveil.files.vectors import to_vector_column
from vecveil.ledger import Ledger, open_ledger
from vecveil.veil import Veil, protect_file

KEY = Key(bytes(range(32)))
ROWS = 30

VEIL = made_veil(epsilon=1e6)
"""Noise too small to tell rows apart wrongly, so that order can be checked."""

TEXTS = [f"text {number} on {PRIVATE_WORD}" for number in range(7)]


def _stop_after(batches: int) -> Progress:
    """Return a progress that presses Ctrl-C after a number of batches."""

    def progress(items: Any, *, label: str, total: int | None = None, weigh: Any = None) -> Any:
        yield from itertools.islice(items, batches)
        raise KeyboardInterrupt

    return progress


def _texts_file(path: Path, **columns: list[Any]) -> Path:
    table = {"id": [f"{number:03}" for number in range(len(TEXTS))], "text": TEXTS, **columns}
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def _protect(source: Path, output: Path, **options: Any) -> Any:
    return protect_file(VEIL, source, output, **{"embedder": WordEmbedder(), "batch_rows": 2, **options})


def _vectors(path: Path, column: str = "vector") -> Any:
    if path.suffix == ".npy":
        return np.load(path)
    table = pa.ipc.open_file(path).read_all() if path.suffix == ".arrow" else pq.read_table(path)
    return np.array(table[column].to_pylist())


@pytest.mark.parametrize("name", ["out.parquet", "out.npy"])
@pytest.mark.parametrize("batch_rows", [1, 3, 100])
def test_rows_keep_their_order_whatever_the_batches(tmp_path: Path, name: str, batch_rows: int) -> None:
    report = _protect(_texts_file(tmp_path / "in.jsonl"), tmp_path / name, batch_rows=batch_rows)
    assert (report.rows, report.resumed) == (7, 0)
    np.testing.assert_allclose(_vectors(tmp_path / name), WordEmbedder().embed(TEXTS), atol=1e-3)


def test_ids_and_other_columns_go_along_and_texts_do_not(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 4, "label": "X"}]
    source = _texts_file(tmp_path / "in.jsonl", ward=[1.5] * 7, tags=[["a", "ß"]] * 7, entities=[spans] * 7)
    report = _protect(source, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["id", "ward", "tags", "vector"]
    assert table["id"].to_pylist() == [f"{number:03}" for number in range(7)]
    assert table["tags"].to_pylist() == [["a", "ß"]] * 7
    assert (report.carried, report.dropped) == (("id", "ward", "tags"), ("text", "entities"))
    assert PRIVATE_WORD.encode() not in (tmp_path / "out.parquet").read_bytes()


def test_texts_beside_vectors_do_not_go_along(tmp_path: Path) -> None:
    table = pa.table({"text": TEXTS, "v": to_vector_column(unit_vectors(7))})
    pq.write_table(table, tmp_path / "in.parquet", compression="none")
    _protect(tmp_path / "in.parquet", tmp_path / "out.parquet", vector_column="v")
    assert pq.read_table(tmp_path / "out.parquet").column_names == ["v"]


def test_what_is_kept_on_purpose_goes_along(tmp_path: Path) -> None:
    _protect(_texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet", keep=("text",))
    assert pq.read_table(tmp_path / "out.parquet")["text"].to_pylist() == TEXTS


TYPES = {
    "string": pa.array(["a", None, "ß"]),
    "large_string": pa.array(["a", None, "ß"], pa.large_string()),
    "category": pa.array(["a", "b", "a"]).dictionary_encode(),
    "number category": pa.array([1, 2, 1]).dictionary_encode(),
    "uint64": pa.array([2**64 - 1, None, 0], pa.uint64()),
    "bool": pa.array([True, None, False]),
    "time": pa.array([1, None, 3], pa.timestamp("us", "Europe/Zurich")),
    "date": pa.array([1, None, 3], pa.date32()),
    "decimal": pa.array(["1.20", None, "3.00"]).cast(pa.decimal128(5, 2)),
    "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}]),
    "words": pa.array([["a"], [], None]),
    "binary": pa.array([b"\xff", None, b""]),
    "null": pa.nulls(3),
}


@pytest.mark.parametrize("name", TYPES)
def test_columns_of_every_type_come_out_as_they_went_in(tmp_path: Path, name: str) -> None:
    table = pa.table({"column": TYPES[name], "v": to_vector_column(unit_vectors(3))})
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    _protect(tmp_path / "in.arrow", tmp_path / "out.parquet", vector_column="v")
    returned = pq.read_table(tmp_path / "out.parquet")["column"]
    assert returned.to_pylist() == table["column"].to_pylist()


def test_a_column_that_parquet_cannot_hold_is_refused_by_name_before_anything_is_embedded(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    with pytest.raises(VecveilError, match="'meta'"):
        _protect(_texts_file(tmp_path / "in.jsonl", meta=[{}] * 7), tmp_path / "out.parquet", embedder=embedder)
    assert embedder.asked == []
    assert set(listing(tmp_path)) == {"in.jsonl"}


def test_vectors_come_from_npy_parquet_and_json_lines(tmp_path: Path) -> None:
    vectors = unit_vectors(5, dtype="float64")
    np.save(tmp_path / "in.npy", vectors)
    pq.write_table(pa.table({"v": to_vector_column(vectors)}), tmp_path / "in.parquet")
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({"v": row}) for row in vectors.tolist()))
    for name in ("in.npy", "in.parquet", "in.jsonl"):
        _protect(tmp_path / name, tmp_path / f"{name}.out.npy")
        returned = _vectors(tmp_path / f"{name}.out.npy")
        assert returned.dtype == np.float32
        np.testing.assert_allclose(returned, vectors, atol=1e-3)


def test_an_embedder_of_double_precision_works_too(tmp_path: Path) -> None:
    report = _protect(
        _texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet", embedder=WordEmbedder(dtype="float64")
    )
    assert report.rows == 7


def test_two_runs_draw_different_noise(tmp_path: Path) -> None:
    source = _texts_file(tmp_path / "in.jsonl")
    for name in ("one.npy", "two.npy"):
        _protect(source, tmp_path / name, epsilon=5.0)
    assert (_vectors(tmp_path / "one.npy") != _vectors(tmp_path / "two.npy")).all()


def test_the_output_tells_how_it_was_made(tmp_path: Path) -> None:
    _protect(_texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet", epsilon=5.0)
    label = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"vecveil"])
    assert (label["veil"], label["epsilon"], label["mechanism"]) == (VEIL.digest(), 5.0, "mahalanobis")
    assert "Mahalanobis" in label["distance"]


def test_a_stopped_run_goes_on_and_noises_no_row_twice(tmp_path: Path) -> None:
    source, output = _texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt):
        _protect(source, output, epsilon=5.0, progress=_stop_after(2))
    parts = sorted((tmp_path / "out.parquet.parts").glob("part-*"))
    released = np.concatenate([_vectors(part) for part in parts])
    embedder = WordEmbedder()
    # Other batches on purpose: where the first run stopped is counted in rows.
    report = _protect(source, output, epsilon=5.0, batch_rows=3, embedder=embedder)
    assert (report.rows, report.resumed) == (7, 4)
    assert embedder.asked == TEXTS[4:]
    np.testing.assert_array_equal(_vectors(output)[:4], released)
    assert pq.read_table(output)["id"].to_pylist() == [f"{number:03}" for number in range(7)]
    assert set(listing(tmp_path)) == {"in.jsonl", "out.parquet"}


def _two_columns(folder: Path) -> Path:
    table = pa.table({"a": to_vector_column(unit_vectors(7, seed=1)), "b": to_vector_column(unit_vectors(7, seed=2))})
    pq.write_table(table, folder / "in.parquet")
    return folder / "in.parquet"


def test_a_stopped_run_does_not_go_on_with_another_vector_column(tmp_path: Path) -> None:
    source, output = _two_columns(tmp_path), tmp_path / "out.npy"
    with pytest.raises(KeyboardInterrupt):
        _protect(source, output, vector_column="a", ledger=tmp_path / "ledger", progress=_stop_after(2))
    with pytest.raises(InvalidInputError, match=r"unfinished run that differs in .*column"):
        _protect(source, output, vector_column="b", ledger=tmp_path / "ledger")


@pytest.mark.parametrize("name", ["out.parquet", "out.npy"])
def test_a_stopped_run_of_vectors_that_no_ledger_knows_of_leaves_nothing_and_begins_anew(
    tmp_path: Path, name: str
) -> None:
    source, output = _two_columns(tmp_path), tmp_path / name
    with pytest.raises(KeyboardInterrupt):
        _protect(source, output, vector_column="a", progress=_stop_after(2))
    assert set(listing(tmp_path)) == {"in.parquet"}
    report = _protect(source, output, vector_column="b")
    assert (report.rows, report.resumed) == (7, 0)
    column = "b" if name == "out.parquet" else "vector"
    np.testing.assert_allclose(_vectors(output, column), unit_vectors(7, seed=2), atol=1e-3)


def test_a_bad_vector_behind_good_ones_leaves_nothing(tmp_path: Path) -> None:
    vectors = unit_vectors(7)
    vectors[5] = np.nan
    np.save(tmp_path / "in.npy", vectors)
    with pytest.raises(InvalidInputError, match="row 5"):
        _protect(tmp_path / "in.npy", tmp_path / "out.parquet")
    assert set(listing(tmp_path)) == {"in.npy"}


def test_a_stopped_run_does_not_go_on_with_another_text_column(tmp_path: Path) -> None:
    source, output = _texts_file(tmp_path / "in.jsonl", other=TEXTS[::-1]), tmp_path / "out.parquet"
    keep = ("text", "other")
    with pytest.raises(KeyboardInterrupt):
        _protect(source, output, text_column="text", keep=keep, progress=_stop_after(2))
    with pytest.raises(InvalidInputError, match=r"unfinished run that differs in .*column"):
        _protect(source, output, text_column="other", keep=keep)


@pytest.mark.parametrize(("change", "named"), [({"epsilon": 6.0}, "epsilon"), ({"keep": ("text",)}, "columns")])
def test_a_stopped_run_does_not_go_on_with_other_options(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    source, output = _texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt):
        _protect(source, output, epsilon=5.0, progress=_stop_after(1))
    before = listing(tmp_path)
    with pytest.raises(InvalidInputError, match=f"differs in {named}"):
        _protect(source, output, **{"epsilon": 5.0, **change})
    assert listing(tmp_path) == before


def test_a_stopped_run_does_not_go_on_with_a_changed_input(tmp_path: Path) -> None:
    source, output = _texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt):
        _protect(source, output, progress=_stop_after(1))
    source.write_text(source.read_text().replace("text 6", "text six"))
    with pytest.raises(InvalidInputError, match="unfinished run that differs in"):
        _protect(source, output)


@pytest.mark.parametrize("text", [None, "", "  "])
def test_a_row_without_text_is_refused_by_its_number_in_the_file(tmp_path: Path, text: str | None) -> None:
    rows = [{"text": each} for each in [*TEXTS[:5], text, *TEXTS[6:]]]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InvalidInputError, match="row 5 has no text") as refused:
        _protect(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    assert PRIVATE_WORD not in str(refused.value)
    assert not (tmp_path / "out.parquet").exists()


def test_a_text_whose_vector_is_nan_is_refused_by_its_number_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="row 5"):
        _protect(_texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet", embedder=WordEmbedder(spoilt="text 5"))


@pytest.mark.parametrize(("value", "reason"), [(np.nan, "NaN or infinite"), (np.inf, "NaN or infinite"), (0, "zero")])
def test_a_bad_vector_is_refused_by_its_number_in_the_file(tmp_path: Path, value: float, reason: str) -> None:
    vectors = unit_vectors(7)
    vectors[5] = value
    np.save(tmp_path / "in.npy", vectors)
    with pytest.raises(InvalidInputError, match=f"{reason}.* row 5"):
        _protect(tmp_path / "in.npy", tmp_path / "out.npy")
    assert not (tmp_path / "out.npy").exists()


def test_vectors_of_two_lengths_are_refused_by_their_number_in_the_file(tmp_path: Path) -> None:
    rows = unit_vectors(7).tolist()
    for number, kept in ((5, 3), (4, 3)):
        rows[number] = rows[number][:kept]
        (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({"v": row}) for row in rows))
        with pytest.raises(InvalidInputError, match=f"row {number}"):
            _protect(tmp_path / "in.jsonl", tmp_path / f"out{number}.npy")


def test_nothing_is_written_for_a_veil_of_another_dimension(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", unit_vectors(3, 5))
    with pytest.raises(InvalidInputError, match="must have 8 dimensions, got 5"):
        _protect(tmp_path / "in.npy", tmp_path / "out.npy")
    assert set(listing(tmp_path)) == {"in.npy"}


def test_the_input_is_never_the_output(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", unit_vectors(3))
    (tmp_path / "same.npy").symlink_to(tmp_path / "in.npy")
    before = listing(tmp_path)
    for name in ("in.npy", "same.npy"):
        with pytest.raises(InvalidInputError, match="another file than the input"):
            _protect(tmp_path / "in.npy", tmp_path / name, overwrite=True)
    assert listing(tmp_path) == before


def test_batches_need_at_least_one_row(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="batch_rows must be a whole number of at least 1, got 0"):
        _protect(_texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet", batch_rows=0)


def test_a_file_without_rows_is_called_empty(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text\n")
    (tmp_path / "in.jsonl").write_text("")
    for name in ("in.csv", "in.jsonl"):
        with pytest.raises(InvalidInputError, match=rf"{name} has no rows"):
            _protect(tmp_path / name, tmp_path / "out.parquet")


def test_a_damaged_input_is_blamed_itself(tmp_path: Path) -> None:
    pq.write_table(pa.table({"v": to_vector_column(unit_vectors(7))}), tmp_path / "in.parquet")
    content = bytearray((tmp_path / "in.parquet").read_bytes())
    content[4:60] = b"\xff" * 56
    (tmp_path / "in.parquet").write_bytes(content)
    with pytest.raises(ArtifactError, match=r"in\.parquet") as refused:
        _protect(tmp_path / "in.parquet", tmp_path / "out.npy")
    assert "could not be written" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_input_that_shrinks_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    source = _texts_file(tmp_path / "in.jsonl")

    def shrink(items: Any, *, label: str, total: int | None = None, weigh: Any = None) -> Any:
        source.write_text("\n".join(source.read_text().splitlines()[:4]))
        yield from silent(items, label=label, total=total)

    with pytest.raises(VecveilError, match="changed while it was read"):
        _protect(source, tmp_path / "out.parquet", progress=shrink)
    assert not (tmp_path / "out.parquet").exists()


def test_rows_without_text_are_left_out_where_asked(tmp_path: Path) -> None:
    rows = [{"id": number, "text": None if number == 5 else text} for number, text in enumerate(TEXTS)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    report = _protect(tmp_path / "in.jsonl", tmp_path / "out.parquet", skip_empty=True)
    assert (report.rows, report.skipped) == (6, 1)
    assert pq.read_table(tmp_path / "out.parquet")["id"].to_pylist() == [0, 1, 2, 3, 4, 6]


def test_a_row_without_text_is_found_before_anything_is_embedded(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a\nb\nc")
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in [*TEXTS, " "]))
    embedder = WordEmbedder()
    with pytest.raises(InvalidInputError, match=f"row {len(TEXTS)} has no text; .*--skip-empty"):
        _protect(tmp_path / "in.jsonl", tmp_path / "out.parquet", embedder=embedder)
    assert embedder.asked == []


@pytest.mark.parametrize("name", ["once.parquet", "once.npy"])
def test_what_is_protected_is_not_protected_again(tmp_path: Path, name: str) -> None:
    np.save(tmp_path / "in.npy", unit_vectors(3))
    _protect(tmp_path / "in.npy", tmp_path / name)
    with pytest.raises(InvalidInputError, match=f"{name} holds protected vectors already"):
        _protect(tmp_path / name, tmp_path / "twice.npy")


def test_a_run_goes_on_although_its_input_was_touched(tmp_path: Path) -> None:
    source, output = _texts_file(tmp_path / "in.jsonl"), tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt):
        _protect(source, output, progress=_stop_after(1))
    os.utime(source, (1, 1))
    assert _protect(source, output).resumed == 2


def test_what_reads_like_text_is_left_out(tmp_path: Path) -> None:
    long = ["the whole of the note stands here as well"] * 7
    source = _texts_file(tmp_path / "in.jsonl", Body=long, ward=["north wing"] * 7, history=[[each] for each in long])
    report = _protect(source, tmp_path / "out.parquet")
    assert (report.carried, report.dropped) == (("id", "ward"), ("text", "Body", "history"))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return _vectors_file(tmp_path / "in.parquet")


def _vectors_file(path: Path, *, ids: list[Any] | None = None, vectors: Any = None) -> Path:
    names = [f"note {number}" for number in range(ROWS)] if ids is None else ids
    column = to_vector_column(unit_vectors(len(names)) if vectors is None else vectors)
    pq.write_table(pa.table({"id": names, "vector": column}), path)
    return path


def _cost(veil: Veil, epsilon: float = 20.0) -> float:
    return veil.mechanism_at(epsilon).euclidean_loss()


def _spent(ledger: Ledger, *, collection: str = "") -> list[float]:
    return read_spent(ledger, ledger.digests([f"{collection}\0snote {number}".encode() for number in range(ROWS)]))


def _record(source: Path, name: str, ledger: Ledger | None, **options: Any) -> dict[str, Any]:
    """Protect a file on record, and return the label of the output."""
    output = source.with_name(name)
    protect_file(made_veil(), source, output, **{"epsilon": 20.0, "id_column": "id", "ledger": ledger, **options})
    label: dict[str, Any] = json.loads(pq.read_schema(output).metadata[b"vecveil"])
    return label


def test_every_row_is_on_record_with_what_it_cost(source: Path, ledger: Ledger) -> None:
    label = _record(source, "out.parquet", ledger, batch_rows=7)
    (run,) = ledger.runs()
    assert (run.charge.run, run.charge.veil, run.charge.epsilon) == (label["run"], made_veil().digest(), 20.0)
    assert (run.charge.mechanism, run.charge.noise, run.releases) == ("mahalanobis", "fresh", ROWS)
    assert _spent(ledger) == pytest.approx([_cost(made_veil())] * ROWS)
    assert label["ledger"] == ledger.id


def test_fresh_noise_costs_again_and_keyed_noise_does_not(source: Path, ledger: Ledger) -> None:
    once = _cost(made_veil())
    for number in range(3):
        _record(source, f"keyed-{number}.parquet", ledger, key=KEY)
    assert _spent(ledger) == pytest.approx([once] * ROWS)
    for number in range(2):
        _record(source, f"fresh-{number}.parquet", ledger)
    assert _spent(ledger) == pytest.approx([3 * once] * ROWS)


def test_another_grid_is_another_release_and_so_is_another_budget(source: Path, ledger: Ledger) -> None:
    for number, grid in enumerate(("float32", "float32", "float16", "int8")):
        _record(source, f"{number}.parquet", ledger, key=KEY, grid=grid)
    assert _spent(ledger) == pytest.approx([3 * _cost(made_veil())] * ROWS)
    _record(source, "more.parquet", ledger, key=KEY, epsilon=40.0)
    assert _spent(ledger) == pytest.approx([5 * _cost(made_veil())] * ROWS)


def test_a_release_over_the_limit_is_refused_before_anything_is_written(source: Path, ledger: Ledger) -> None:
    ledger.set_limit(2.5 * _cost(made_veil()))
    _record(source, "one.parquet", ledger)
    _record(source, "two.parquet", ledger)
    before = sorted(path.name for path in source.parent.iterdir())
    with pytest.raises(BudgetExceededError, match=r"30 records"):
        _record(source, "three.parquet", ledger, batch_rows=7)
    assert sorted(path.name for path in source.parent.iterdir()) == before
    assert _spent(ledger) == pytest.approx([2 * _cost(made_veil())] * ROWS)


def test_one_record_over_the_limit_holds_back_the_whole_file(source: Path, ledger: Ledger) -> None:
    ledger.set_limit(1.5 * _cost(made_veil()))
    last = pq.read_table(source).slice(ROWS - 1)
    pq.write_table(last, source.with_name("last.parquet"))
    _record(source.with_name("last.parquet"), "one.parquet", ledger)
    with pytest.raises(BudgetExceededError, match="1 record "):
        _record(source, "all.parquet", ledger, batch_rows=7)
    assert not source.with_name("all.parquet.parts").exists()


def test_the_same_id_twice_in_a_file_is_released_twice(source: Path, ledger: Ledger) -> None:
    twice = pa.table({"id": ["a", "a"], "vector": to_vector_column(unit_vectors(2))})
    pq.write_table(twice, source.with_name("twice.parquet"))
    ledger.set_limit(1.5 * _cost(made_veil()))
    with pytest.raises(BudgetExceededError, match="1 record "):
        _record(source.with_name("twice.parquet"), "out.parquet", ledger)


def test_collections_keep_equal_ids_apart(source: Path, ledger: Ledger) -> None:
    ledger.set_limit(1.5 * _cost(made_veil()))
    _record(source, "one.parquet", ledger, collection="ward 1")
    _record(_other_vectors(source), "two.parquet", ledger, collection="ward 2")
    assert _spent(ledger, collection="ward 1") == _spent(ledger, collection="ward 2") != _spent(ledger)
    with pytest.raises(BudgetExceededError):
        _record(source, "three.parquet", ledger, collection="ward 2")


def _other_vectors(source: Path) -> Path:
    table = pq.read_table(source)
    place = table.column_names.index("vector")
    path = source.with_name("others.parquet")
    pq.write_table(table.set_column(place, "vector", to_vector_column(unit_vectors(ROWS, seed=9))), path)
    return path


def test_without_ids_the_content_says_which_record_it_is(source: Path, ledger: Ledger) -> None:
    ledger.set_limit(1.5 * _cost(made_veil()))
    _record(source, "one.parquet", ledger, id_column=None)
    renamed = pq.read_table(source).set_column(0, "id", pa.array([f"other {number}" for number in range(ROWS)]))
    pq.write_table(renamed, source.with_name("renamed.parquet"))
    with pytest.raises(BudgetExceededError, match="30 records"):
        _record(source.with_name("renamed.parquet"), "two.parquet", ledger, id_column=None)


def test_seeded_noise_says_so_in_the_output_and_in_the_ledger(source: Path, ledger: Ledger) -> None:
    labels = [_record(source, f"{number}.parquet", ledger, seed=7) for number in range(2)]
    assert {label["noise"] for label in labels} == {"seeded: not private"}
    assert {run.charge.noise for run in ledger.runs()} == {"seeded"}
    one, other = (pq.read_table(source.with_name(f"{number}.parquet"))["vector"] for number in range(2))
    assert one == other


def test_the_key_is_in_no_file_that_is_written(source: Path, ledger: Ledger) -> None:
    key = Key.new()
    label = _record(source, "out.parquet", ledger, key=key)
    assert label["key"] == key.fingerprint
    ledger.close()
    for path in source.parent.iterdir():
        content = path.read_bytes()
        assert key.secret not in content
        assert key.secret.hex().encode() not in content


def test_no_ledger_is_said_too(source: Path, ledger: Ledger) -> None:
    assert _record(source, "out.parquet", None)["ledger"] == "none"
    assert ledger.runs() == []


@pytest.mark.parametrize("key", [None, KEY])
def test_a_missing_id_far_down_costs_no_record_anything(tmp_path: Path, ledger: Ledger, key: Key | None) -> None:
    ids = [None if number == 25 else f"note {number}" for number in range(ROWS)]
    source = _vectors_file(tmp_path / "in.parquet", ids=ids)
    with pytest.raises(InvalidInputError, match="row 25 has no id"):
        _record(source, "out.parquet", ledger, key=key, batch_rows=7)
    assert ledger.totals().releases == 0
    assert not source.with_name("out.parquet.parts").exists()


@pytest.mark.parametrize(("factor", "reason"), [(2.0, "another length"), (np.nan, "NaN"), (0.0, "zero vector")])
def test_a_bad_vector_far_down_costs_no_record_anything(
    tmp_path: Path, ledger: Ledger, factor: float, reason: str
) -> None:
    vectors = unit_vectors(ROWS)
    vectors[25] *= factor
    source = _vectors_file(tmp_path / "in.parquet", vectors=vectors)
    with pytest.raises(VecveilError, match=reason):
        _record(source, "out.parquet", ledger, batch_rows=7)
    assert ledger.totals().releases == 0
    assert not source.with_name("out.parquet.parts").exists()


def test_a_missing_id_is_told_by_its_row_in_the_file_and_not_missed_where_there_is_no_text(
    tmp_path: Path, ledger: Ledger
) -> None:
    rows: list[dict[str, str | None]] = [{"text": "one", "id": "a"}, {"text": " ", "id": None}, {"text": "two"}]
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)))
    options: dict[str, Any] = {"embedder": WordEmbedder(), "skip_empty": True}
    with pytest.raises(InvalidInputError, match="row 2 has no id"):
        _record(source, "out.parquet", ledger, **options)
    source.write_text("\n".join(map(json.dumps, [*rows[:2], {"text": "two", "id": "b"}])))
    _record(source, "out.parquet", ledger, **options)
    assert ledger.totals().releases == 2


def test_a_file_of_texts_is_free_with_the_same_key_and_refused_with_fresh_noise(tmp_path: Path, ledger: Ledger) -> None:
    veil = made_veil(epsilon=20.0)
    (tmp_path / "notes.txt").write_text("\n".join(f"a text with the number {number}" for number in range(ROWS)))
    ledger.set_limit(1.5 * _cost(veil))
    options: dict[str, Any] = {"ledger": ledger, "embedder": WordEmbedder(), "batch_rows": 7}
    for name in ("one.npy", "two.npy"):
        protect_file(veil, tmp_path / "notes.txt", tmp_path / name, key=KEY, **options)
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "two.npy").read_bytes()
    embedder = WordEmbedder()
    with pytest.raises(BudgetExceededError, match="30 records"):
        protect_file(veil, tmp_path / "notes.txt", tmp_path / "three.npy", **{**options, "embedder": embedder})
    assert embedder.asked == []
    assert not (tmp_path / "three.npy.parts").exists()


def test_ids_are_the_same_in_a_format_without_numbers(tmp_path: Path, ledger: Ledger) -> None:
    texts = [f"a text with the number {number}" for number in range(ROWS)]
    lines = (json.dumps({"id": number, "text": text}) for number, text in enumerate(texts))
    (tmp_path / "notes.jsonl").write_text("\n".join(lines))
    (tmp_path / "notes.csv").write_text("id,text\n" + "\n".join(f"{row},{text}" for row, text in enumerate(texts)))
    options: dict[str, Any] = {"id_column": "id", "key": KEY, "ledger": ledger, "embedder": WordEmbedder()}
    for name in ("notes.jsonl", "notes.csv"):
        protect_file(made_veil(epsilon=20.0), tmp_path / name, tmp_path / f"{name}.npy", **options)
    assert (tmp_path / "notes.jsonl.npy").read_bytes() == (tmp_path / "notes.csv.npy").read_bytes()
    assert ledger.totals().records == ROWS


def test_a_file_is_protected_as_its_texts_and_its_vectors_are(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("\n".join(TEXTS))
    vectors = WordEmbedder().embed(TEXTS)
    np.save(tmp_path / "in.npy", vectors)
    wanted = VEIL.perturb(vectors, key=KEY, noise_ratio=0.5, grid="int8")
    for name in ("notes.txt", "in.npy"):
        _protect(tmp_path / name, tmp_path / f"{name}.npy", key=KEY, noise_ratio=0.5, grid="int8")
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), wanted)


def _seals(path: Path) -> list[bytes]:
    return pq.read_table(path)["seal"].to_pylist()


def _open_seals(path: Path, key: Key = KEY, *, ids: list[str] | None = None) -> Any:
    return VEIL.sealer(key).open(_seals(path), ids or [f"{number:03}" for number in range(len(TEXTS))])


def test_seals_open_with_the_key_of_their_rows_alone(tmp_path: Path) -> None:
    source = _texts_file(tmp_path / "in.jsonl")
    report = _protect(source, tmp_path / "out.parquet", key=KEY, id_column="id", seal=True)
    _protect(source, tmp_path / "plain.parquet", key=KEY, id_column="id")
    assert report.sealed
    assert pq.read_table(tmp_path / "out.parquet").column_names == ["id", "vector", "seal"]
    np.testing.assert_allclose(_open_seals(tmp_path / "out.parquet"), WordEmbedder().embed(TEXTS), atol=1e-3)
    np.testing.assert_array_equal(_vectors(tmp_path / "out.parquet"), _vectors(tmp_path / "plain.parquet"))
    label = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"vecveil"])
    assert label["seals"] == {"key": KEY.fingerprint, "numbers": "float16"}
    assert b"seals" not in pq.read_schema(tmp_path / "plain.parquet").metadata[b"vecveil"]
    for wrong in ({"key": Key.new()}, {"ids": [f"{number:03}" for number in range(6, -1, -1)]}):
        with pytest.raises(InvalidRowError, match="row 0 has a seal that does not open"):
            _open_seals(tmp_path / "out.parquet", **wrong)  # type: ignore[arg-type]


def test_seals_may_have_a_key_of_their_own_beside_fresh_noise(tmp_path: Path) -> None:
    source, other = _texts_file(tmp_path / "in.jsonl"), Key.new()
    _protect(source, tmp_path / "out.parquet", id_column="id", seal=True, seal_key=other)
    np.testing.assert_allclose(_open_seals(tmp_path / "out.parquet", other), WordEmbedder().embed(TEXTS), atol=1e-3)


def test_clean_vectors_are_written_nowhere(tmp_path: Path) -> None:
    source, place = _texts_file(tmp_path / "in.jsonl"), tmp_path / "place"
    place.mkdir()
    with pytest.raises(KeyboardInterrupt):
        _protect(source, place / "out.parquet", key=KEY, id_column="id", seal=True, progress=_stop_after(3))
    parts = [path for path in place.rglob("*") if path.is_file()]
    assert parts
    _protect(source, place / "done.parquet", key=KEY, id_column="id", seal=True)
    for path in [*parts, place / "done.parquet"]:
        content = path.read_bytes()
        for row in WordEmbedder().embed(TEXTS):
            for kind in ("<f2", "<f4", "<f8"):
                assert row[:4].astype(kind).tobytes() not in content


def test_a_stopped_run_goes_on_with_the_same_seals(tmp_path: Path) -> None:
    source = _texts_file(tmp_path / "in.jsonl")
    options = {"key": KEY, "id_column": "id", "seal": True}
    with pytest.raises(KeyboardInterrupt):
        _protect(source, tmp_path / "out.parquet", progress=_stop_after(3), **options)
    for other in ({"seal": False}, {"seal_key": Key.new()}):
        with pytest.raises(InvalidInputError, match=r"unfinished run that differs in .*seals"):
            _protect(source, tmp_path / "out.parquet", **{**options, **other})
    assert _protect(source, tmp_path / "out.parquet", **options).resumed > 0
    _protect(source, tmp_path / "whole.parquet", **options)
    assert _seals(tmp_path / "out.parquet") == _seals(tmp_path / "whole.parquet")
    # No nonce is that of another content, in whichever run.
    changed = _texts_file(tmp_path / "other.jsonl", text=[f"{text} again" for text in TEXTS])
    _protect(changed, tmp_path / "other.parquet", **options)
    nonces = [one[1:13] for path in ("whole", "other") for one in _seals(tmp_path / f"{path}.parquet")]
    assert len({*nonces}) == len(nonces)


def test_seals_are_not_searched_for_the_concept_and_other_columns_are(tmp_path: Path) -> None:
    source = _texts_file(tmp_path / "in.jsonl", note=[PRIVATE_WORD] * 7, ward=["A"] * 7)
    # Found in nearly every seal, and in one column.
    concept = patterns({"BYTE": r"[\x80-\xff]"}) | terms(PRIVATE_WORD)
    report = _protect(source, tmp_path / "out.parquet", key=KEY, id_column="id", seal=True, concept=concept)
    assert (report.carried, report.private, report.searched) == (("id", "ward"), ("note",), True)
    assert "seal" in pq.read_table(tmp_path / "out.parquet").column_names


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "seals need a key"),
        ({"key": KEY}, "seal opens for its record alone"),
        ({"key": KEY, "id_column": "id", "output": "out.npy"}, "npy file has no place for seals"),
    ],
)
def test_seals_that_can_t_be_written_are_refused_before_any_work(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    output = tmp_path / options.pop("output", "out.parquet")
    embedder = WordEmbedder()
    with pytest.raises(InvalidInputError, match=said):
        _protect(_texts_file(tmp_path / "in.jsonl"), output, seal=True, embedder=embedder, **options)
    assert embedder.asked == []
    assert {*listing(tmp_path)} == {"in.jsonl"}


def test_a_row_without_an_id_is_named_before_any_work(tmp_path: Path) -> None:
    embedder, ids = WordEmbedder(), ["a", "b", "c", None, "e", "f", "g"]
    pq.write_table(pa.table({"id": ids, "text": TEXTS}), tmp_path / "in.parquet")
    with pytest.raises(InvalidRowError, match="row 3 has no id"):
        _protect(
            tmp_path / "in.parquet",
            tmp_path / "out.parquet",
            id_column="id",
            seal=True,
            seal_key=KEY,
            embedder=embedder,
        )
    assert embedder.asked == []
