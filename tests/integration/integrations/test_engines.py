"""The same bytes on one machine, on Ray and on Spark, however the rows are divided."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
from pyspark.sql import SparkSession

from support.command_line import CommandLine, check_refusal
from support.guards import named_guard
from support.ledgers import read_spent
from support.veils import unit_vectors
from vecveil.core.errors import InvalidInputError
from vecveil.files.output import FOLDER_LABEL
from vecveil.integrations import ray as on_ray
from vecveil.integrations import spark as on_spark
from vecveil.integrations.engines import Columns
from vecveil.ledger import open_ledger
from vecveil.veil import Guard, protect_file

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark.*"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
"""Raised inside of the engines, by what they do among themselves."""

ROWS = 300


@pytest.fixture(scope="module", autouse=True)
def engines() -> Iterator[None]:
    """A real Ray and a real Spark on this machine."""
    # Spark starts its workers with the python on PATH, which need not be this one.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "37")
        .getOrCreate()
    )
    yield
    spark.stop()
    ray.shutdown()


@pytest.fixture
def guard(tmp_path: Path, model_folder: Path) -> Guard:
    """A keyed guard that is on record."""
    return named_guard(tmp_path, model_folder, ledger=str(tmp_path / "ledger.sqlite"))


@pytest.fixture
def vectors_folder(tmp_path: Path) -> Path:
    """Vectors in four files of different sizes."""
    folder = tmp_path / "in"
    folder.mkdir()
    rows = unit_vectors(ROWS, 16)
    for part, (start, end) in enumerate([(0, 10), (10, 11), (11, 200), (200, ROWS)]):
        table = pa.table(
            {
                "id": [f"record-{number}" for number in range(start, end)],
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(rows[start:end].reshape(-1)), 16),
                "year": list(range(start, end)),
            }
        )
        pq.write_table(table, folder / f"{part}.parquet", row_group_size=50)
    return folder


@pytest.fixture
def one_machine(vectors_folder: Path, guard: Guard, tmp_path: Path) -> dict[str, list[float]]:
    """What one machine makes of them."""
    pq.write_table(pq.read_table(vectors_folder), tmp_path / "all.parquet")
    key = guard.release.noise.key  # type: ignore[attr-defined]
    protect_file(guard.opened_veil, tmp_path / "all.parquet", tmp_path / "one.parquet", key=key, id_column="id")
    return _by_id(tmp_path / "one.parquet")


def _by_id(place: Path) -> dict[str, list[float]]:
    table = pq.read_table(place)
    return dict(zip(table["id"].to_pylist(), table["vector"].to_pylist(), strict=True))


@pytest.mark.parametrize("engine", [on_ray, on_spark], ids=["ray", "spark"])
def test_vectors_come_out_as_on_one_machine(
    engine: object, vectors_folder: Path, one_machine: dict[str, list[float]], guard: Guard, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    rows = engine.protect_parquet(vectors_folder, out, guard, Columns(id_column="id"))  # type: ignore[attr-defined]
    assert rows == ROWS
    assert _by_id(out) == one_machine
    assert sorted(pq.read_table(out)["year"].to_pylist()) == list(range(ROWS))
    assert json.loads((out / FOLDER_LABEL).read_text())["veil"] == guard.opened_veil.digest()
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().records == ROWS
        assert ledger.problems() == []
        # The same bytes on this machine are no further release.
        guard.protect_vectors(unit_vectors(ROWS, 16), ids=[f"record-{number}" for number in range(ROWS)])
        spent = read_spent(ledger, ledger.digests([f"\0srecord-{number}".encode() for number in range(ROWS)]))
        assert spent == pytest.approx([guard.release.mechanism.euclidean_loss()] * ROWS)
    with pytest.raises(InvalidInputError, match="exists already"):
        engine.protect_parquet(vectors_folder, out, guard, Columns(id_column="id"))  # type: ignore[attr-defined]


@pytest.mark.parametrize("engine", [on_ray, on_spark], ids=["ray", "spark"])
def test_seals_come_out_as_on_one_machine(engine: object, vectors_folder: Path, guard: Guard, tmp_path: Path) -> None:
    pq.write_table(pq.read_table(vectors_folder), tmp_path / "all.parquet")
    protect_file(
        guard.opened_veil,
        tmp_path / "all.parquet",
        tmp_path / "one.parquet",
        key=guard.key,
        id_column="id",
        seal=True,
    )
    out = tmp_path / "out"
    engine.protect_parquet(vectors_folder, out, guard, Columns(id_column="id", seal=True))  # type: ignore[attr-defined]
    there, here = (
        dict(zip(table["id"].to_pylist(), table["seal"].to_pylist(), strict=True))
        for table in map(pq.read_table, (out, tmp_path / "one.parquet"))
    )
    assert there == here
    assert json.loads((out / FOLDER_LABEL).read_text())["seals"] == guard.sealer.label()


@pytest.mark.parametrize("engine", [on_ray, on_spark], ids=["ray", "spark"])
def test_texts_come_out_as_on_one_machine(engine: object, guard: Guard, tmp_path: Path) -> None:
    texts = [f"note number {number} of the ward" for number in range(20)] + ["", None]
    pq.write_table(pa.table({"text": texts, "id": [*map(str, range(22))]}), tmp_path / "in.parquet")
    columns = Columns(id_column="id", skip_empty=True)
    rows = engine.protect_parquet(tmp_path / "in.parquet", tmp_path / "out", guard, columns)  # type: ignore[attr-defined]
    assert rows == 20
    found = _by_id(tmp_path / "out")
    assert np.array_equal(
        [found[str(number)] for number in range(20)], guard.protect_texts(texts[:20], ids=[*range(20)])
    )
    assert "text" not in pq.read_table(tmp_path / "out").column_names


def test_fresh_noise_is_refused(vectors_folder: Path, tmp_path: Path, model_folder: Path) -> None:
    fresh = named_guard(tmp_path, model_folder, keyed=False)
    with pytest.raises(InvalidInputError, match="protect with a key"):
        on_ray.protect_parquet(vectors_folder, tmp_path / "out", fresh)
    assert not (tmp_path / "out").exists()


def test_spark_has_no_half_precision(vectors_folder: Path, guard: Guard, tmp_path: Path) -> None:
    half = Guard.from_settings({**guard.settings(), "grid": "float16"})
    with pytest.raises(InvalidInputError, match="no numbers of 16 bits"):
        on_spark.protect_parquet(vectors_folder, tmp_path / "out", half)


def test_the_command_line_runs_on_an_engine(
    vectors_folder: Path, one_machine: dict[str, list[float]], guard: Guard, tmp_path: Path, run: CommandLine
) -> None:
    options = (guard.veil, vectors_folder, tmp_path / "out", "--key", guard.key, "--id-column", "id")
    done = run("protect", *options, "--engine", "spark")
    assert done.code == 0, done.err
    assert f"{ROWS} rows protected on spark" in done.err
    assert _by_id(tmp_path / "out") == one_machine
    check_refusal(run("protect", *options, "--engine", "spark"), "exists already")
    check_refusal(run("protect", guard.veil, vectors_folder, tmp_path / "o", "--engine", "spark"), "with a key")
