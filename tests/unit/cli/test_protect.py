"""`vecveil protect`: keys, ids, grids, seeds and ledgers. Files of every kind are tried in `end_to_end`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import CommandLine, check_refusal, listing
from support.veils import made_veil, unit_vectors
from vecveil.files.vectors import to_vector_column
from vecveil.veil import Veil

ROWS = 50


@pytest.fixture
def table(work: Path) -> Path:
    made_veil(epsilon=20.0).save(work / "a.veil")
    ids = [f"note {number}" for number in range(ROWS)]
    pq.write_table(pa.table({"id": ids, "vector": to_vector_column(unit_vectors(ROWS))}), work / "in.parquet")
    return work


def _vectors(path: str) -> Any:
    return pq.read_table(path)["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)


def test_the_same_record_gets_the_same_bytes_in_any_batch_order_and_format(run: CommandLine, table: Path) -> None:
    run("key", "new", "a.key")
    options = ("--key", "a.key", "--id-column", "id")
    for name, size in (("one", 1), ("seven", 7), ("all", 1000)):
        outcome = run("protect", "a.veil", "in.parquet", f"{name}.parquet", "--batch-rows", size, *options)
        assert outcome.code == 0, outcome.err
    turned = pq.read_table("in.parquet").take(list(range(ROWS))[::-1])
    pq.write_table(turned, "turned.parquet")
    assert run("protect", "a.veil", "turned.parquet", "back.parquet", *options).code == 0
    whole = _vectors("all.parquet").reshape(ROWS, -1)
    for name in ("one", "seven"):
        assert _vectors(f"{name}.parquet").tobytes() == whole.tobytes()
    assert _vectors("back.parquet").reshape(ROWS, -1)[::-1].tobytes() == whole.tobytes()
    assert run("protect", "a.veil", "in.parquet", "all.npy", *options).code == 0
    assert np.load("all.npy").tobytes() == whole.tobytes()


def test_texts_too_whatever_the_batch(
    run: CommandLine, work: Path, learned_folder: Path, model_folder: Path, private_texts: list[str]
) -> None:
    (work / "notes.txt").write_text("\n".join(private_texts))
    run("key", "new", "a.key")
    for size in (1, 5, 100):
        options = ("--noise-ratio", "1", "--key", "a.key", "--batch-rows", size, "--embedder", model_folder)
        outcome = run("protect", learned_folder, "notes.txt", f"{size}.npy", *options)
        assert outcome.code == 0, outcome.err
    assert np.load("1.npy").tobytes() == np.load("5.npy").tobytes() == np.load("100.npy").tobytes()


@pytest.mark.parametrize(("grid", "kind"), [("float32", "float32"), ("float16", "float16"), ("int8", "int8")])
@pytest.mark.parametrize("name", ["out.parquet", "out.npy"])
def test_vectors_are_written_on_the_grid_that_the_label_states(
    run: CommandLine, table: Path, grid: str, kind: str, name: str
) -> None:
    assert run("protect", "a.veil", "in.parquet", name, "--grid", grid, "--batch-rows", 9).code == 0
    values = np.load(name).reshape(-1) if name.endswith("npy") else _vectors(name)
    written = json.loads(
        Path(f"{name}.json").read_bytes() if name.endswith("npy") else pq.read_schema(name).metadata[b"vecveil"]
    )
    assert values.dtype == np.dtype(kind)
    assert written["grid"] == {"kind": grid, "step": written["grid"]["step"]}
    steps = values.astype(np.float64) / (1 if grid == "int8" else written["grid"]["step"])
    np.testing.assert_array_equal(steps, np.rint(steps))
    clean = unit_vectors(ROWS).reshape(-1)
    restored = steps * written["grid"]["step"]
    assert np.corrcoef(restored, clean)[0, 1] > 0.5


def test_a_seed_is_told_to_be_not_private(run: CommandLine, table: Path) -> None:
    outcome = run("protect", "a.veil", "in.parquet", "out.parquet", "--seed", "3")
    assert "seeded: not private" in outcome.err
    assert json.loads(pq.read_schema("out.parquet").metadata[b"vecveil"])["noise"] == "seeded: not private"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--key", "none.key"), ("no key file none.key", "vecveil key new")),
        (("--key", "open.key"), ("open.key can be read by others", "chmod 600")),
        (("--key", "in.parquet"), ("in.parquet is no key file",)),
        (("--key", "a.key", "--seed", "3"), ("key", "seeded", "both")),
        (("--id-column", "ids"), ("unknown column 'ids'", "did you mean 'id'")),
        (("--id-column", "vector"), ("'vector' must hold text or whole numbers",)),
        (("--ledger", "postgresql://me:secret@host/db", "--no-ledger"), ("--ledger or --no-ledger",)),
        (("--grid", "float8"), ("float8",)),
        (("--seed", "-1"), ("-1",)),
    ],
)
def test_a_wrong_option_is_refused_and_nothing_is_written(
    run: CommandLine, table: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    run("key", "new", "a.key")
    run("key", "new", "open.key")
    Path("open.key").chmod(0o644)
    before = listing(table)
    outcome = run("protect", "a.veil", "in.parquet", "out.parquet", *options)
    check_refusal(outcome, *named)
    assert "secret" not in outcome.err
    assert listing(table) == before


def test_an_output_that_is_a_folder_is_refused_before_anything_is_released(run: CommandLine, table: Path) -> None:
    Path("out.npy").mkdir()
    before = listing(table)
    outcome = run("protect", "a.veil", "in.parquet", "out.npy", "--overwrite", "--ledger", "book.sqlite")
    check_refusal(outcome, "out.npy is a folder")
    assert listing(table) == before


def test_a_limit_is_kept_from_the_command_line(run: CommandLine, table: Path) -> None:
    cost = made_veil().mechanism_at(20.0).euclidean_loss()
    assert run("ledger", "limit", 1.5 * cost, "--ledger", "book.sqlite").code == 0
    options = ("--ledger", "book.sqlite", "--id-column", "id")
    first = run("protect", "a.veil", "in.parquet", "one.parquet", *options)
    assert first.code == 0, first.err
    assert "recorded in the ledger as run" in first.err
    check_refusal(run("protect", "a.veil", "in.parquet", "two.parquet", *options), "50 records", "limit")
    assert not Path("two.parquet").exists()
    assert run("ledger", "check", "--ledger", "book.sqlite", "--output", "one.parquet").code == 0
    assert "not recorded in any ledger" in run("protect", "a.veil", "in.parquet", "two.parquet", "--no-ledger").err


@pytest.mark.parametrize(
    ("source", "options", "named"),
    [
        ("in.parquet", ("--seed", "1"), ("--engine ray does not take --seed",)),
        ("in.parquet", ("--batch-rows", "3", "--cache", "kept"), ("does not take --batch-rows, --cache",)),
        ("notes.txt", (), ("reads Parquet", "notes.txt")),
        ("none.parquet", (), ("there is no file none.parquet",)),
    ],
)
def test_what_an_engine_does_not_take_is_refused_before_it_starts(
    run: CommandLine, table: Path, source: str, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    (table / "notes.txt").write_text("a note")
    check_refusal(run("protect", "a.veil", source, "out", "--engine", "ray", *options), *named)
    assert not (table / "out").exists()


def test_seals_are_written_where_they_are_asked_for(run: CommandLine, table: Path) -> None:
    for name in ("a", "seal"):
        run("key", "new", f"{name}.key")
    options = ("--key", "a.key", "--id-column", "id")
    assert run("protect", "a.veil", "in.parquet", "plain.parquet", *options).code == 0
    outcome = run("protect", "a.veil", "in.parquet", "sealed.parquet", *options, "--seal")
    assert outcome.code == 0, outcome.err
    assert "clean vectors sealed for their owner in the column seal" in outcome.err
    assert run("protect", "a.veil", "in.parquet", "own.parquet", *options, "--seal-key", "seal.key").code == 0
    assert "seal" not in pq.read_table("plain.parquet").column_names
    assert _vectors("sealed.parquet").tobytes() == _vectors("plain.parquet").tobytes()
    veil, ids = Veil.load("a.veil"), [f"note {number}" for number in range(ROWS)]
    for name, key in (("sealed", "a.key"), ("own", "seal.key")):
        found = veil.sealer(key).open(pq.read_table(f"{name}.parquet")["seal"].to_pylist(), ids)
        np.testing.assert_allclose(found, unit_vectors(ROWS), atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("out.parquet", "--seal", "--id-column", "id"), "seals need a key"),
        (("out.npy", "--seal", "--id-column", "id", "--key", "a.key"), "npy file has no place for seals"),
        (("out.parquet", "--seal", "--key", "a.key"), "--id-column"),
    ],
)
def test_seals_without_what_they_need_are_refused(
    run: CommandLine, table: Path, arguments: tuple[str, ...], said: str
) -> None:
    run("key", "new", "a.key")
    check_refusal(run("protect", "a.veil", "in.parquet", *arguments), said)
    assert not {"out.parquet", "out.npy"} & {*listing(table)}
