"""What Ray and Spark share; the engines themselves run in `integration`."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.veils import unit_vectors
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.files.vectors import to_vector_column
from vecveil.integrations.engines import LABEL, Columns, require_shared_ledger, write_parts
from vecveil.veil import Guard

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
        write_parts(out, stopped, guard, overwrite=False)
    assert not out.exists()
    assert write_parts(out, write, guard, overwrite=False) == ROWS
    label = json.loads((out / LABEL).read_text())
    assert label == {**guard.release.label(), "ledger_head": label["ledger_head"]}
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
        write_parts(out, write, guard, overwrite=False)
    assert [path.name for path in out.iterdir()] == ["old.parquet"]
    assert write_parts(out, write, guard, overwrite=True) == 7
    assert sorted(path.name for path in out.iterdir()) == [LABEL, "new.parquet"]
