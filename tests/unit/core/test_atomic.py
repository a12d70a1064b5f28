from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import listing
from vecveil.core.atomic import atomic_file, atomic_folder
from vecveil.core.errors import ArtifactError, InvalidInputError


def _write_file_and_fail(path: Path) -> None:
    with atomic_file(path) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt


def _fill_folder_and_fail(path: Path, *, overwrite: bool = False) -> None:
    with atomic_folder(path, overwrite=overwrite) as draft:
        (draft / "half").write_text("half")
        raise KeyboardInterrupt


def test_a_file_appears_only_when_its_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with atomic_file(path) as draft:
        draft.write_text("whole")
        assert not path.exists()
    assert listing(tmp_path) == {"out.txt": b"whole"}


def test_a_file_that_fails_leaves_the_old_one_and_no_draft(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        _write_file_and_fail(tmp_path / "out.txt")
    assert listing(tmp_path) == {"out.txt": b"old"}


def test_a_file_in_a_missing_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "out.txt"
    with (
        pytest.raises(ArtifactError, match=r"out\.txt could not be written: No such file"),
        atomic_file(missing) as draft,
    ):
        draft.write_text("x")


def test_a_folder_appears_only_when_its_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with atomic_folder(path) as draft:
        (draft / "inside").write_text("whole")
        assert not path.exists()
    assert listing(tmp_path) == {"out/": b"", "out/inside": b"whole"}


def test_a_folder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _fill_folder_and_fail(tmp_path / "out")
    assert listing(tmp_path) == {}


def test_a_folder_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        _fill_folder_and_fail(tmp_path / "out", overwrite=True)
    assert listing(tmp_path) == {"out/": b"", "out/old": b"old"}


def test_a_folder_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidInputError, match="exists already"), atomic_folder(tmp_path / "out"):
        pass
    with atomic_folder(tmp_path / "out", overwrite=True) as draft:
        (draft / "new").write_text("new")
    assert listing(tmp_path) == {"out/": b"", "out/new": b"new"}
