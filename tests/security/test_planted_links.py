from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors
from vecveil.attacks.checkpoint import BEST, LAST, Checkpoint, TrainingState
from vecveil.audit.experiment import CELLS, LOCK, PLAN, Cell, Experiment
from vecveil.core.atomic import atomic_file, atomic_folder, create_folder, hold_lock, require_own
from vecveil.core.errors import InvalidInputError, VecveilError
from vecveil.core.key import Key
from vecveil.embedders import CachedEmbedder
from vecveil.files.key_file import write_key
from vecveil.files.vectors import to_vector_column
from vecveil.integrations.engines import Columns, write_parts
from vecveil.ledger import open_ledger
from vecveil.veil import Guard, protect_file

VEIL = made_veil(epsilon=2.0)
SECRET = b"not yours to overwrite"
LAYINGS: tuple[Callable[[Path, Path], None], ...] = (os.symlink, os.link)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("\n".join(f"note {number}" for number in range(6)))
    return path


def _protect(source: Path, output: Path, **options: Any) -> None:
    protect_file(VEIL, source, output, embedder=WordEmbedder(), batch_rows=2, **options)


def _stop(items: Any, *, label: str, total: int | None = None, weigh: Any = None) -> Any:
    yield from itertools.islice(items, 2)
    raise KeyboardInterrupt


@pytest.mark.parametrize("lay", LAYINGS)
@pytest.mark.parametrize(
    "name", ["whole.parquet", "lock", "finishing", "job.json", "part-00000000.arrow", "part-00000002.arrow"]
)
def test_a_link_planted_among_the_parts_of_a_stopped_run_is_refused(
    source: Path, victim: Path, name: str, lay: Callable[[Path, Path], None]
) -> None:
    output = source.with_name("out.parquet")
    with suppress(KeyboardInterrupt):
        _protect(source, output, progress=_stop)
    planted = output.with_name("out.parquet.parts") / name
    planted.unlink(missing_ok=True)
    lay(victim, planted)
    with pytest.raises(VecveilError, match=rf"{name} (is a link|has a second name)"):
        _protect(source, output)
    assert victim.read_bytes() == SECRET
    assert not output.exists()
    planted.unlink()


@pytest.mark.parametrize("name", ["whole.parquet", "lock", "finishing", "job.json", "part-00000000.arrow"])
def test_a_folder_of_parts_with_a_planted_link_is_refused_and_left_alone(source: Path, victim: Path, name: str) -> None:
    parts = source.with_name("out.parquet.parts")
    parts.mkdir()
    (parts / name).symlink_to(victim)
    with pytest.raises(VecveilError, match="is a link"):
        _protect(source, source.with_name("out.parquet"))
    assert victim.read_bytes() == SECRET
    assert (parts / name).is_symlink()


@pytest.mark.parametrize("exists", [True, False])
def test_parts_that_are_a_link_to_a_folder_are_refused(source: Path, tmp_path: Path, exists: bool) -> None:
    elsewhere = tmp_path / "elsewhere"
    if exists:
        elsewhere.mkdir()
    (tmp_path / "out.parquet.parts").symlink_to(elsewhere)
    with pytest.raises(VecveilError, match=r"out\.parquet\.parts is a link"):
        _protect(source, tmp_path / "out.parquet")
    assert not exists or not list(elsewhere.iterdir())


@pytest.mark.parametrize("name", ["out.npy", "out.npy.json"])
def test_a_link_in_the_place_of_an_output_or_its_label_is_replaced(source: Path, victim: Path, name: str) -> None:
    source.with_name(name).symlink_to(victim)
    _protect(source, source.with_name("out.npy"), overwrite=True)
    assert victim.read_bytes() == SECRET
    assert np.load(source.with_name("out.npy")).shape[0] == 6
    assert not source.with_name(name).is_symlink()


def test_a_folder_of_another_user_is_refused(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source.with_name("out.parquet.parts").mkdir()
    monkeypatch.setattr("vecveil.core.atomic._find_user", lambda: os.geteuid() + 1)
    with pytest.raises(
        InvalidInputError, match=rf"out\.parquet\.parts belongs to another user \(number {os.geteuid()}\)"
    ):
        _protect(source, source.with_name("out.parquet"))


def test_where_files_have_no_owner_there_is_none_to_compare(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.core.atomic._find_user", None)
    require_own(source)


def test_a_part_of_another_user_is_refused(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    path.touch()
    monkeypatch.setattr("vecveil.core.atomic._find_user", lambda: os.geteuid() + 1)
    with pytest.raises(InvalidInputError, match="belongs to another user"), hold_lock(path, busy="busy"):
        pass


def test_a_draft_that_became_a_link_is_not_put_in_place(tmp_path: Path, victim: Path) -> None:
    def swap(draft: Path) -> None:
        draft.unlink()
        draft.symlink_to(victim)

    with pytest.raises(VecveilError, match="could not be written"), atomic_file(tmp_path / "out") as draft:
        swap(draft)
    assert not (tmp_path / "out").exists()
    assert victim.read_bytes() == SECRET


def test_a_folder_that_replaces_a_link_leaves_its_target(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "mine").write_bytes(SECRET)
    (tmp_path / "out").symlink_to(target)
    with atomic_folder(tmp_path / "out", overwrite=True) as draft:
        (draft / "new").write_text("new")
    assert (target / "mine").read_bytes() == SECRET
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "target"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["new"]


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(VecveilError, match="could not be made: File exists"):
        create_folder(tmp_path / "out")


@pytest.mark.parametrize("name", [LOCK, CELLS, "checkpoints"])
def test_a_link_planted_in_the_folder_of_an_audit_is_refused(tmp_path: Path, victim: Path, name: str) -> None:
    folder = tmp_path / "audit"
    folder.mkdir()
    (folder / PLAN).write_text("{}")
    (folder / name).symlink_to(victim)
    with pytest.raises(InvalidInputError, match="is a link"), Experiment(folder).open({}):
        pass
    assert victim.read_bytes() == SECRET


def test_the_folder_of_an_audit_may_be_a_link_of_its_user(tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "audit").symlink_to(tmp_path / "large")
    experiment = Experiment(tmp_path / "audit")
    with experiment.open({}):
        assert experiment.run(Cell(key={"name": "one"}, kind=int, compute=lambda *_: 1)) == 1
    assert json.loads((tmp_path / "large" / PLAN).read_text()) == {}


@pytest.mark.parametrize("lay", LAYINGS)
def test_a_link_planted_as_an_embedding_cache_is_refused(
    tmp_path: Path, victim: Path, lay: Callable[[Path, Path], None]
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    victim.write_bytes(b"")
    lay(victim, folder / f"{WordEmbedder().fingerprint.digest()}.sqlite")
    with pytest.raises(VecveilError, match=r"is a link|has a second name"):
        CachedEmbedder(WordEmbedder(), folder).embed(["a note"])
    assert victim.read_bytes() == b""


@pytest.mark.parametrize("name", [f".{LAST}.draft", LAST, BEST])
def test_a_link_planted_as_a_checkpoint_is_not_followed(tmp_path: Path, victim: Path, name: str) -> None:
    module = torch.nn.Linear(2, 2)
    checkpoint = Checkpoint(folder=tmp_path / "training", key="k")
    checkpoint.folder.mkdir()
    (checkpoint.folder / name).symlink_to(victim)
    checkpoint.save(module, torch.optim.SGD(module.parameters()), TrainingState())
    checkpoint.save_best(module, TrainingState())
    assert victim.read_bytes() == SECRET


def test_a_link_planted_as_a_key_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInputError, match="exists already"):
        write_key(Key.new(), tmp_path / "a.key")
    assert not (tmp_path / "elsewhere").exists()


def test_an_engine_does_not_write_through_a_planted_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("out.partial", ".out.draft"):
        (tmp_path / name).symlink_to(elsewhere)
    guard = Guard(VEIL, key=Key.new(), ledger=None)
    table = pa.table({"v": to_vector_column(unit_vectors(2))})

    def write(folder: Path) -> None:
        folder.mkdir()
        pq.write_table(table, folder / "one.parquet")

    protection = Columns(vector_column="v").make_protection(guard, table.schema, table)
    write_parts(tmp_path / "out", write, protection, overwrite=False)
    assert not list(elsewhere.iterdir())


def test_a_ledger_does_not_follow_a_planted_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "theirs.sqlite"
    (tmp_path / "ledger.sqlite").symlink_to(elsewhere)
    with pytest.raises(InvalidInputError, match="is a link, and is not followed"):
        open_ledger(tmp_path / "ledger.sqlite")
    assert not elsewhere.exists()
