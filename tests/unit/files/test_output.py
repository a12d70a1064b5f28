from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import listing
from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError, VecveilError
from vecveil.files import ResumableOutput
from vecveil.files.vectors import to_vector_column
from vecveil.files.writers import write_arrow

JOB = {"veil": "abc", "epsilon": 2.0}
VECTORS = unit_vectors(6)


def _batch(start: int, *, only_vectors: bool = False) -> Any:
    vectors = to_vector_column(VECTORS[start : start + 2])
    if only_vectors:
        return pa.record_batch({"vector": vectors})
    return pa.record_batch({"id": pa.array([start, start + 1]), "vector": vectors})


def _describe(output: ResumableOutput, path: Path) -> None:
    output.describe(_batch(0, only_vectors=path.suffix == ".npy").schema, {"made": "here"})


def _stop_after(path: Path, parts: int, job: dict[str, Any] = JOB) -> None:
    with suppress(KeyboardInterrupt), ResumableOutput.open(path, job) as output:
        _describe(output, path)
        for number in range(parts):
            output.append(_batch(2 * number, only_vectors=path.suffix == ".npy"))
        raise KeyboardInterrupt


def _go_on(path: Path, **options: Any) -> int:
    """Write what is missing and return how many rows were there before."""
    with ResumableOutput.open(path, JOB, **options) as output:
        _describe(output, path)
        there = output.rows
        batches = [_batch(start, only_vectors=path.suffix == ".npy") for start in range(there, 6, 2)]
        for batch in batches:
            output.append(batch)
        output.finish()
    return there


@pytest.mark.parametrize("stopped", [0, 1, 3])
def test_a_stopped_parquet_output_goes_on_behind_its_last_part(tmp_path: Path, stopped: int) -> None:
    path = tmp_path / "out.parquet"
    _stop_after(path, stopped)
    assert not path.exists()
    assert _go_on(path) == 2 * stopped
    table = pq.read_table(path)
    assert table["id"].to_pylist() == list(range(6))
    np.testing.assert_array_equal(np.array(table["vector"].to_pylist(), dtype=np.float32), VECTORS)
    assert json.loads(table.schema.metadata[b"vecveil"]) == {"made": "here"}
    assert set(listing(tmp_path)) == {"out.parquet"}


def test_a_stopped_npy_output_goes_on_behind_its_last_part(tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    _stop_after(path, 2)
    assert _go_on(path) == 4
    np.testing.assert_array_equal(np.load(path), VECTORS)
    assert set(listing(tmp_path)) == {"out.npy", "out.npy.json"}
    assert json.loads((tmp_path / "out.npy.json").read_text()) == {"made": "here"}


def test_a_run_that_fails_before_its_first_row_leaves_nothing(tmp_path: Path) -> None:
    _stop_after(tmp_path / "out.parquet", 0)
    assert listing(tmp_path) == {}


def test_parts_of_another_job_are_refused_by_the_name_of_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    _stop_after(path, 1)
    before = listing(tmp_path)
    other = {**JOB, "epsilon": 3.0}
    with pytest.raises(InvalidInputError, match=r"run that differs in epsilon;"), ResumableOutput.open(path, other):
        pass
    assert listing(tmp_path) == before


def test_the_same_output_cannot_be_opened_twice_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    with ResumableOutput.open(path, JOB) as output:
        _describe(output, path)
        output.append(_batch(0))
        with pytest.raises(InvalidInputError, match="another process is writing"), ResumableOutput.open(path, JOB):
            pass
        assert output.rows == 2


def test_an_output_that_another_run_finished_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.parquet"
    make_folder = Path.mkdir

    def finish_first(folder: Path, *arguments: Any, **options: Any) -> None:
        monkeypatch.setattr(Path, "mkdir", make_folder)
        _go_on(path)
        make_folder(folder, *arguments, **options)

    # The other run ends between our look at the output and our lock on its parts.
    monkeypatch.setattr(Path, "mkdir", finish_first)
    with pytest.raises(InvalidInputError, match="exists already"):
        _go_on(path)


def test_an_existing_output_stays_unless_overwriting_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    path.write_bytes(b"old")
    with pytest.raises(InvalidInputError, match=r"out\.parquet exists already"):
        _go_on(path)
    assert listing(tmp_path) == {"out.parquet": b"old"}
    _go_on(path, overwrite=True)
    assert pq.read_table(path).num_rows == 6


def test_the_label_beside_an_npy_output_replaces_no_file_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "out.npy.json").write_text("mine")
    with pytest.raises(InvalidInputError, match=r"out\.npy\.json exists already"):
        _go_on(tmp_path / "out.npy")
    assert listing(tmp_path) == {"out.npy.json": b"mine"}


def test_a_folder_of_someone_else_under_the_name_of_the_parts_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "out.parquet.parts"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(VecveilError, match=r"out\.parquet\.parts"):
        _go_on(tmp_path / "out.parquet")
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("content", ["", '{"veil": "a', "[1, 2]", "null"])
def test_a_broken_record_of_the_job_is_refused_in_words(tmp_path: Path, content: str) -> None:
    path = tmp_path / "out.parquet"
    _stop_after(path, 1)
    (tmp_path / "out.parquet.parts" / "job.json").write_text(content)
    with pytest.raises(VecveilError, match=r"out\.parquet\.parts"):
        _go_on(path)


def test_a_part_that_went_missing_is_noticed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    _stop_after(path, 2)
    (tmp_path / "out.parquet.parts" / "part-00000000.arrow").unlink()
    with pytest.raises(VecveilError, match="part"), ResumableOutput.open(path, JOB):
        pass


def test_a_broken_part_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    _stop_after(path, 2)
    (tmp_path / "out.parquet.parts" / "part-00000001.arrow").write_bytes(b"PAR1")
    with pytest.raises(ArtifactError, match=r"part-00000001\.arrow cannot be read"):
        _go_on(path)


def test_drafts_of_a_killed_run_are_swept_away(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    _stop_after(path, 1)
    (tmp_path / "out.parquet.parts" / ".part-00000001.arrow.0123456789ab.draft").write_bytes(b"half")
    _go_on(path)
    assert pq.read_table(path)["id"].to_pylist() == list(range(6))


@pytest.mark.parametrize("name", ["out.csv", "out", "out.parqet"])
def test_another_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"\.npy, \.parquet"):
        _go_on(tmp_path / name)
    assert listing(tmp_path) == {}


def test_a_missing_folder_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no folder .*missing to write out\.parquet to"):
        _go_on(tmp_path / "missing" / "out.parquet")


def test_a_type_that_parquet_does_not_know_is_refused_in_words(tmp_path: Path) -> None:
    batch = pa.record_batch({"gap": pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval())})
    with pytest.raises(VecveilError, match="gap"), ResumableOutput.open(tmp_path / "out.parquet", JOB) as output:
        output.describe(batch.schema, {})
    assert listing(tmp_path) == {}


def test_a_column_of_categories_survives_the_parts(tmp_path: Path) -> None:
    batch = pa.record_batch({"ward": pa.array([3, 4, 3]).dictionary_encode(), "vector": to_vector_column(VECTORS[:3])})
    with ResumableOutput.open(tmp_path / "out.parquet", JOB) as output:
        output.describe(batch.schema, {})
        output.append(batch)
        output.finish()
    assert pq.read_table(tmp_path / "out.parquet")["ward"].to_pylist() == [3, 4, 3]


def test_hidden_files_of_someone_else_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "out.parquet.parts"
    folder.mkdir()
    (folder / ".thesis.draft").write_text("mine")
    with pytest.raises(VecveilError, match="holds something else"):
        _go_on(tmp_path / "out.parquet")
    assert (folder / ".thesis.draft").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("out.npy", "NpyWriter.write"),
        ("out.parquet", "ParquetWriter.write"),
        ("out.parquet", "ParquetWriter._write_group"),
    ],
)
def test_a_disk_that_is_full_for_the_whole_costs_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, step: str
) -> None:
    path = tmp_path / name

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(f"vecveil.files.writers.{step}", full)
        with pytest.raises(ArtifactError, match=rf"{name} could not be written: No space left.*parts are kept in"):
            _go_on(path)
    assert not path.exists()
    assert _go_on(path) >= 2
    assert len(np.load(path) if name == "out.npy" else pq.read_table(path)) == 6
    assert not (tmp_path / f"{name}.parts").exists()


def test_a_part_that_can_t_be_written_is_told_by_the_next_call_and_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, written, real = tmp_path / "out.parquet", [], write_arrow

    def full(part: Path, batch: Any) -> None:
        if written:
            raise OSError(28, "No space left on device")
        written.append(part)
        real(part, batch)

    with monkeypatch.context() as patched:
        patched.setattr("vecveil.files.output.write_arrow", full)
        with pytest.raises(ArtifactError, match=r"No space left on device.*; finished parts are kept in"):
            _go_on(path)
    assert len(list((tmp_path / "out.parquet.parts").glob("part-*"))) == 1
    assert _go_on(path) == 2
    assert pq.read_table(path)["id"].to_pylist() == [0, 1, 2, 3, 4, 5]


def test_no_part_is_said_to_be_kept_where_the_first_can_t_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("vecveil.files.output.write_arrow", full)
    with pytest.raises(ArtifactError, match="No space left on device") as failed:
        _go_on(tmp_path / "out.parquet")
    assert "parts are kept" not in str(failed.value)
    assert listing(tmp_path) == {}


def test_what_was_appended_is_a_part_whatever_happens_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may stand in a ledger: to lose it would be to pay for nothing."""
    real = write_arrow

    def slow(part: Path, batch: Any) -> None:
        time.sleep(0.3)
        real(part, batch)

    monkeypatch.setattr("vecveil.files.output.write_arrow", slow)
    _stop_after(tmp_path / "out.parquet", 2)
    assert _go_on(tmp_path / "out.parquet") == 4


@pytest.mark.parametrize("name", ["out.parquet", "out.npy"])
def test_an_output_without_parts_that_was_finished_before_a_kill_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Its noise is fresh: to make it again would be a second release, of this input or of another."""
    path = tmp_path / name

    def write() -> None:
        with ResumableOutput.open(path, JOB) as output:
            output.describe(_batch(0, only_vectors=name == "out.npy").schema, {}, in_parts=False)
            output.append(_batch(0, only_vectors=name == "out.npy"))
            output.finish()

    with monkeypatch.context() as killed:
        killed.setattr(ResumableOutput, "_clear", lambda _: None)
        write()
    before = path.read_bytes()
    assert (tmp_path / f"{name}.parts" / "finishing").exists()
    with pytest.raises(InvalidInputError, match="exists already"):
        write()
    assert path.read_bytes() == before


def test_nothing_is_left_of_a_run_without_parts_that_was_killed_and_then_failed(tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    for _ in range(2):
        with suppress(KeyboardInterrupt), ResumableOutput.open(path, JOB) as output:
            output.describe(_batch(0, only_vectors=True).schema, {}, in_parts=False)
            output.append(_batch(0, only_vectors=True))
            (tmp_path / "kept.parts").mkdir(exist_ok=True)
            for file in (tmp_path / "out.npy.parts").iterdir():
                (tmp_path / "kept.parts" / file.name).write_bytes(file.read_bytes())
            raise KeyboardInterrupt
        assert not (tmp_path / "out.npy.parts").exists()
        # As a kill would have left it.
        (tmp_path / "kept.parts").rename(tmp_path / "out.npy.parts")
    with suppress(KeyboardInterrupt), ResumableOutput.open(path, JOB) as output:
        output.describe(_batch(0, only_vectors=True).schema, {}, in_parts=False)
        raise KeyboardInterrupt
    assert listing(tmp_path) == {}
