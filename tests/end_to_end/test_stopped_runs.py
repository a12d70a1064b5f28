from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import check_refusal, finished, listing, start
from support.veils import made_veil, unit_vectors
from vecveil.files.vectors import to_vector_column

ROWS = 400

SLOWLY = """
import time
from vecveil.veil.release import Release
protect = Release.protect_vectors
def slow(*arguments, **options):
    time.sleep(0.02)
    return protect(*arguments, **options)
Release.protect_vectors = slow
"""


@pytest.fixture
def table(work: Path) -> Path:
    made_veil().save(work / "a.veil")
    ids = [f"{number:03}" for number in range(ROWS)]
    pq.write_table(pa.table({"id": ids, "vector": to_vector_column(unit_vectors(ROWS))}), work / "in.parquet")
    return work


def _protect(out: str, *options: str, slowly: bool = False, epsilon: str = "20") -> subprocess.Popen[str]:
    arguments = ("protect", "a.veil", "in.parquet", out, "--epsilon", epsilon, "--batch-rows", "4", *options)
    return start(*arguments, before=SLOWLY if slowly else "")


def _parts(out: str) -> list[Path]:
    return sorted(Path(f"{out}.parts").glob("part-*"))


def _wait_for_parts(process: subprocess.Popen[str], out: str, parts: int) -> None:
    while len(_parts(out)) < parts:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def _vectors(path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path)
    table = pa.ipc.open_file(path).read_all() if path.suffix == ".arrow" else pq.read_table(path)
    return np.array(table["vector"].to_pylist())


@pytest.mark.parametrize("out", ["out.parquet", "out.npy"])
def test_a_killed_run_goes_on_when_it_is_repeated(table: Path, out: str) -> None:
    process = _protect(out, slowly=True)
    _wait_for_parts(process, out, 5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (table / out).exists()
    released = np.concatenate([_vectors(path) for path in _parts(out) if path.suffix == ".arrow"])
    assert 20 <= len(released) < ROWS

    outcome = finished(_protect(out))
    assert outcome.code == 0, outcome.err
    assert f"{len(released)} of them by an earlier run" in outcome.err
    vectors = _vectors(table / out)
    assert vectors.shape == (ROWS, 8)
    np.testing.assert_array_equal(vectors[: len(released)], released)
    assert len(np.unique(vectors, axis=0)) == ROWS
    if out == "out.parquet":
        assert pq.read_table(out)["id"].to_pylist() == [f"{number:03}" for number in range(ROWS)]
    # Clean and released rows belong together, so none was left out, doubled or moved.
    similarity = np.einsum("ij,ij->i", vectors, unit_vectors(ROWS))
    assert similarity.mean() > 0.5
    assert not Path(f"{out}.parts").exists()


def test_ctrl_c_ends_in_one_line_and_the_run_goes_on_when_it_is_repeated(table: Path) -> None:
    process = _protect("out.parquet", slowly=True)
    _wait_for_parts(process, "out.parquet", 3)
    process.send_signal(signal.SIGINT)
    stopped = finished(process)
    assert stopped.code == 130
    assert "Traceback" not in stopped.err
    assert stopped.err.strip().startswith("Stopped.")
    assert stopped.err.strip().count("\n") == 0
    assert not any("draft" in name for name in listing(table))
    outcome = finished(_protect("out.parquet"))
    assert outcome.code == 0, outcome.err
    assert pq.read_table("out.parquet")["id"].to_pylist() == [f"{number:03}" for number in range(ROWS)]


def test_a_run_that_was_told_to_terminate_goes_on_when_it_is_repeated(table: Path) -> None:
    process = _protect("out.parquet", slowly=True)
    _wait_for_parts(process, "out.parquet", 3)
    process.send_signal(signal.SIGTERM)
    assert finished(process).code != 0
    assert finished(_protect("out.parquet")).code == 0
    assert pq.read_table("out.parquet").num_rows == ROWS
    assert not any("draft" in name or "parts" in name for name in listing(table))


def test_two_runs_on_one_output_do_not_mix(table: Path) -> None:
    first = _protect("out.parquet", slowly=True)
    _wait_for_parts(first, "out.parquet", 1)
    check_refusal(finished(_protect("out.parquet")), "another process", "out.parquet")
    assert first.poll() is None
    first.send_signal(signal.SIGKILL)
    first.communicate()


def test_the_parts_of_a_killed_run_are_not_mixed_with_another_budget(table: Path) -> None:
    process = _protect("out.parquet", slowly=True)
    _wait_for_parts(process, "out.parquet", 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = listing(table)
    refused = finished(_protect("out.parquet", epsilon="21"))
    check_refusal(refused, "differs in epsilon", "out.parquet.parts")
    assert listing(table) == before


def test_a_run_killed_before_its_first_part_holds_no_one_up(table: Path) -> None:
    never = SLOWLY.replace("0.02", "60")
    process = start("protect", "a.veil", "in.parquet", "out.parquet", "--epsilon", "20", before=never)
    while not Path("out.parquet.parts/job.json").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    # Nothing was released, so another budget mixes with nothing.
    outcome = finished(_protect("out.parquet", epsilon="21"))
    assert outcome.code == 0, outcome.err


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""


@pytest.mark.parametrize("out", ["out.parquet", "out.npy"])
def test_a_disk_that_is_full_half_way_leaves_nothing_of_vectors_that_no_ledger_knows_of(table: Path, out: str) -> None:
    before = listing(table)
    options = ("protect", "a.veil", "in.parquet", out, "--epsilon", "20", "--batch-rows", "20", "--no-ledger")
    outcome = finished(start(*options, before=FULL.format(size=6000)))
    check_refusal(outcome, out, "File too large")
    assert listing(table) == before
    again = finished(start(*options))
    assert again.code == 0, again.err
    assert _vectors(table / out).shape == (ROWS, 8)


@pytest.mark.parametrize("size", [100, 2000])
def test_a_disk_that_is_full_from_the_start_keeps_nothing(table: Path, size: int) -> None:
    before = listing(table)
    options = ("protect", "a.veil", "in.parquet", "out.npy", "--epsilon", "20", "--batch-rows", "400", "--no-ledger")
    outcome = finished(start(*options, before=FULL.format(size=size)))
    check_refusal(outcome, "out.npy", "File too large")
    assert listing(table) == before


def test_a_ledger_that_cannot_be_written_lets_nothing_out(table: Path) -> None:
    before = listing(table)
    options = ("protect", "a.veil", "in.parquet", "out.npy", "--epsilon", "20")
    outcome = finished(start(*options, before=FULL.format(size=3000)))
    check_refusal(outcome, "the ledger", "cannot be used")
    assert listing(table) == before
