from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from support.audit_examples import made_examples
from support.audits import made_audit
from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors
from vecveil.attacks.checkpoint import Checkpoint, TrainingState
from vecveil.audit.experiment import Cell, Experiment
from vecveil.core.atomic import atomic_file, atomic_folder
from vecveil.core.key import Key
from vecveil.embedders import CachedEmbedder
from vecveil.files.key_file import write_key
from vecveil.files.vectors import to_vector_column
from vecveil.integrations.engines import Columns, write_parts
from vecveil.reports import write_report, write_tables
from vecveil.service.clients import add_client
from vecveil.veil import Guard, protect_file

VEIL = made_veil(epsilon=2.0)


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    """Files are as open as the code that makes them lets them be."""
    before = os.umask(0)
    yield
    os.umask(before)


def _modes(folder: Path) -> dict[str, int]:
    modes = {}
    for path in folder.rglob("*"):
        # A draft may take its place between the two looks.
        with suppress(FileNotFoundError):
            modes[str(path.relative_to(folder))] = path.stat().st_mode & 0o777
    return modes


def _open_to_others(folder: Path) -> dict[str, int]:
    return {name: mode for name, mode in _modes(folder).items() if mode & 0o077}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("\n".join(f"note {number}" for number in range(6)))
    return path


@pytest.mark.parametrize("name", ["out.parquet", "out.npy"])
def test_an_output_is_its_owners_alone_while_it_grows_and_after(
    source: Path, place: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, int]] = []

    def watch(items: Any, *, label: str, total: int | None = None, weigh: Any = None) -> Any:
        for item in items:
            seen.append(_modes(place))
            yield item

    replace = Path.replace

    def watch_replace(path: Path, target: Path) -> Any:
        seen.append(_modes(place))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", watch_replace)
    protect_file(VEIL, source, place / name, embedder=WordEmbedder(), batch_rows=2, progress=watch)
    names = {Path(found).name.split(".")[0] for modes in seen for found in modes}
    assert {"out", "job", "lock", "part-00000000", "whole", "finishing"} <= names
    assert [mode for modes in seen for mode in modes.values() if mode & 0o077] == []
    assert _open_to_others(place) == {}


def test_a_draft_of_a_veil_is_closed_before_its_first_byte(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, int]] = []
    write = Path.write_text

    def watch(path: Path, *arguments: Any, **options: Any) -> int:
        seen.append(_modes(place))
        return write(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", watch)
    VEIL.save(place / "a.veil")
    assert len(seen[0]) == 3
    assert [mode for modes in seen for mode in modes.values() if mode & 0o077] == []
    assert _open_to_others(place) == {}


def test_what_a_library_writes_into_a_draft_is_closed_too(place: Path) -> None:
    with atomic_folder(place / "folder") as draft:
        assert draft.stat().st_mode & 0o777 == 0o700
        (draft / "below").mkdir()
        (draft / "below" / "file").write_text("x")
    with atomic_file(place / "file") as draft:
        assert draft.stat().st_mode & 0o777 == 0o600
    assert _open_to_others(place) == {}


def test_a_report_and_the_tables_of_an_audit_are_their_owners_alone(place: Path) -> None:
    for examples in (made_examples(), None):
        write_report(made_audit(), examples, place / "report.html", title="audit")
        assert _open_to_others(place) == {}
    write_tables(made_audit(), place / "tables")
    assert _open_to_others(place) == {}


def test_an_audit_closes_the_folder_that_it_is_given(place: Path) -> None:
    folder = place / "audit"
    folder.mkdir(mode=0o777)
    experiment = Experiment(folder)
    with experiment.open({}):
        experiment.run(Cell(key={"name": "one"}, kind=int, compute=lambda *_: 1))
        experiment.write("results.json", {"one": 1})
        assert _open_to_others(place) == {}


def test_parts_that_were_left_open_are_closed(source: Path, place: Path) -> None:
    (place / "out.parquet.parts").mkdir(mode=0o777)

    def watch(items: Any, *, label: str, total: int | None = None, weigh: Any = None) -> Any:
        assert _open_to_others(place) == {}
        yield from items

    protect_file(VEIL, source, place / "out.parquet", embedder=WordEmbedder(), progress=watch)


def test_caches_checkpoints_keys_and_clients_are_their_owners_alone(place: Path) -> None:
    CachedEmbedder(WordEmbedder(), place / "cache").embed(["a note"])
    module = torch.nn.Linear(2, 2)
    Checkpoint(folder=place / "training", key="k").save(module, torch.optim.SGD(module.parameters()), TrainingState())
    write_key(Key.new(), place / "a.key")
    add_client(place / "clients.toml", "search")
    assert _open_to_others(place) == {}


def test_what_an_engine_writes_is_its_owners_alone(place: Path) -> None:
    def write(folder: Path) -> None:
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        folder.mkdir()
        pq.write_table(table, folder / "one.parquet")

    table = pa.table({"v": to_vector_column(unit_vectors(2))})
    guard = Guard(VEIL, key=Key.new(), ledger=None)
    write_parts(
        place / "out", write, Columns(vector_column="v").make_protection(guard, table.schema, table), overwrite=False
    )
    assert set(_modes(place)) == {"out", "out/one.parquet", "out/_vecveil.json"}
    assert _open_to_others(place) == {}


def test_a_rename_is_made_to_last(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed, flush = [], os.fsync

    def watch(descriptor: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    with atomic_file(place / "file") as draft:
        draft.write_text("x")
    assert flushed[-1] == str(place)
    with atomic_folder(place / "folder") as draft:
        (draft / "file").write_text("x")
    assert flushed[-1] == str(place)
