"""What Ray and Spark share; the engines themselves run in `integration`."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.guards import without_words
from support.veils import unit_vectors
from vecveil.concepts import terms
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.key import Key
from vecveil.files.output import FOLDER_LABEL
from vecveil.files.vectors import to_vector_column
from vecveil.integrations.engines import Columns, require_shared_ledger, write_parts
from vecveil.veil import Guard
from vecveil.veil.batches import BatchProtection
from vecveil.veil.columns import ColumnPlan

ROWS = 30


@pytest.fixture
def sample() -> pa.Table:
    """A table of vectors."""
    ids = [f"record-{number}" for number in range(ROWS)]
    return pa.table({"id": ids, "vector": to_vector_column(unit_vectors(ROWS, 16))})


def test_a_ledger_in_a_file_is_one_machines(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInputError, match="PostgreSQL"):
        require_shared_ledger(guard)
    require_shared_ledger(Guard.from_settings({**guard.settings(), "ledger": None}))
    require_shared_ledger(Guard.from_settings({**guard.settings(), "ledger": "postgresql://host/db"}))
    monkeypatch.setenv("VECVEIL_LEDGER", "postgresql://host/db")
    require_shared_ledger(Guard.from_settings({**guard.settings(), "ledger": "default"}))


def test_what_is_sent_to_workers_holds_no_key(guard: Guard, sample: pa.Table) -> None:
    protection = Columns(id_column="id").make_protection(guard, sample.schema, sample)
    sent = pickle.dumps(protection)
    key: Key = guard.release.noise.key  # type: ignore[attr-defined]
    assert key.secret not in sent
    assert key.secret.hex().encode() not in sent
    batch = sample.to_batches()[0]
    assert pickle.loads(sent)(batch).equals(protection(batch))  # noqa: S301


def test_fresh_noise_is_refused_as_a_part_may_run_twice(guard: Guard, sample: pa.Table) -> None:
    with pytest.raises(InvalidInputError, match="protect with a key"):
        Columns().make_protection(replace(guard, key=None), sample.schema, sample)


def test_parts_appear_when_they_are_whole_and_say_how_they_were_made(
    guard: Guard, sample: pa.Table, tmp_path: Path
) -> None:
    def stopped(folder: Path) -> None:
        write(folder)
        raise KeyboardInterrupt

    def write(folder: Path) -> None:
        folder.mkdir()
        for part in range(3):
            pq.write_table(sample.slice(10 * part, 10), folder / f"{part}.parquet")

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        write_parts(out, stopped, _protection(guard), overwrite=False)
    assert not out.exists()
    assert write_parts(out, write, _protection(guard), overwrite=False) == ROWS
    label = json.loads((out / FOLDER_LABEL).read_text())
    assert label == {**guard.vector_release.label(), "ledger_head": label["ledger_head"]}
    assert [path.name for path in tmp_path.glob("out*")] == ["out"]
    # Readers of Parquet pass over the label.
    assert pq.read_table(out).num_rows == ROWS


def test_parts_are_replaced_only_where_asked(guard: Guard, sample: pa.Table, tmp_path: Path) -> None:
    def write(folder: Path) -> None:
        folder.mkdir()
        pq.write_table(sample.slice(0, 7), folder / "new.parquet")

    out = tmp_path / "out"
    out.mkdir()
    (out / "old.parquet").write_text("mine")
    with pytest.raises(InvalidInputError, match="out exists already"):
        write_parts(out, write, _protection(guard), overwrite=False)
    assert [path.name for path in out.iterdir()] == ["old.parquet"]
    assert write_parts(out, write, _protection(guard), overwrite=True) == 7
    assert sorted(path.name for path in out.iterdir()) == [FOLDER_LABEL, "new.parquet"]


def test_what_is_replaced_stays_until_the_new_parts_are_in_its_place(
    guard: Guard, sample: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, failed = Path.rename, []

    def fail_once(path: Path, target: Path) -> Path:
        if Path(target).name == "out" and not failed:
            failed.append(path)
            raise OSError("the power is gone")
        return rename(path, target)

    out = tmp_path / "out"
    out.mkdir()
    (out / "old.parquet").write_text("mine")
    monkeypatch.setattr(Path, "rename", fail_once)
    with pytest.raises(ArtifactError, match="could not be written"):
        write_parts(out, lambda folder: _write(folder, sample), _protection(guard), overwrite=True)
    assert [path.name for path in out.iterdir()] == ["old.parquet"]
    assert [path.name for path in tmp_path.glob("*out*")] == ["out"]


def test_the_label_says_whether_private_words_were_replaced(guard: Guard, sample: pa.Table, tmp_path: Path) -> None:
    removing = without_words(guard, terms("ward"))
    said = []
    for texts in (True, False):
        write_parts(
            tmp_path / "out", lambda folder: _write(folder, sample), _protection(removing, texts=texts), overwrite=True
        )
        said.append(json.loads((tmp_path / "out" / FOLDER_LABEL).read_text())["words"])
    assert said[0].startswith("remove, epsilon 0")
    assert said[1] == "not covered: the vectors came without their texts"


def _protection(guard: Guard, *, texts: bool = False, seals: bool = False) -> BatchProtection:
    columns: dict[str, Any] = {"ids": None, "groups": None, "output_column": "vector", "carried": (), "dropped": ()}
    plan = ColumnPlan(column="text" if texts else "vector", is_text=texts, seals=seals, **columns)
    return BatchProtection(guard=guard, plan=plan, schema=None)


def _write(folder: Path, table: pa.Table) -> None:
    folder.mkdir()
    pq.write_table(table, folder / "new.parquet")


def test_parts_say_that_seals_are_there(guard: Guard, sample: pa.Table, tmp_path: Path) -> None:
    protection = Columns(id_column="id", seal=True).make_protection(guard, sample.schema, sample)
    assert protection.schema.names == ["id", "vector", "seal"]
    sealed = pa.Table.from_batches([protection(batch) for batch in sample.to_batches()], protection.schema)
    clean = guard.sealer.open(sealed["seal"].to_pylist(), sample["id"].to_pylist())
    assert np.allclose(clean, unit_vectors(ROWS, 16), atol=1e-3)
    write_parts(
        tmp_path / "out", lambda folder: _write(folder, sealed), _protection(guard, seals=True), overwrite=False
    )
    assert json.loads((tmp_path / "out" / FOLDER_LABEL).read_text())["seals"] == guard.sealer.label()
    with pytest.raises(InvalidInputError, match="id-column"):
        Columns(seal=True).make_protection(guard, sample.schema, sample)
