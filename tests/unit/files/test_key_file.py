from __future__ import annotations

import os
from pathlib import Path

import pytest

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.key import Key
from vecveil.files.key_file import read_key, write_key


def test_a_key_comes_back_as_it_was(tmp_path: Path) -> None:
    key = Key.new()
    write_key(key, tmp_path / "a.key")
    assert read_key(tmp_path / "a.key") == key


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_no_one_else_can_read_a_key_file_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_key(Key.new(), tmp_path / "a.key")
    finally:
        os.umask(before)
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    first = Key.new()
    write_key(first, tmp_path / "a.key")
    with pytest.raises(InvalidInputError, match=r"a\.key exists already"):
        write_key(Key.new(), tmp_path / "a.key")
    assert read_key(tmp_path / "a.key") == first


def test_a_key_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInputError, match="exists already"):
        write_key(Key.new(), tmp_path / "a.key")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_key_that_others_can_reach_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    write_key(Key.new(), tmp_path / "a.key")
    (tmp_path / "a.key").chmod(mode)
    with pytest.raises(InvalidInputError, match=f"mode {mode:o}.*chmod 600"):
        read_key(tmp_path / "a.key")


def test_a_missing_key_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no key file .*vecveil key new"):
        read_key(tmp_path / "a.key")


SECRET = "00112233445566778899aabbccddeeff" * 2


@pytest.mark.parametrize(
    "content",
    [
        "",
        SECRET,
        f"vecveil-key-1\n{SECRET[:-2]}\n",
        f"vecveil-key-1\n{SECRET[:-1]}z\n",
        f"vecveil-key-1\n{SECRET}{SECRET}\n",
        f"vecveil-key-2\n{SECRET}\n",
        f"vecveil-key-1\n{SECRET}\nmore\n",
        f"vecveil-key-1\n{'00' * 32}\n",
    ],
)
def test_a_damaged_key_is_refused_and_not_shown(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.key"
    path.touch(mode=0o600)
    path.write_text(content)
    with pytest.raises(ArtifactError) as error:
        read_key(path)
    assert SECRET[:8] not in str(error.value)
    assert SECRET[:8] not in repr(error.value.__context__)


def test_a_key_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="could not be written"):
        write_key(Key.new(), tmp_path / "no-such-folder" / "a.key")
    assert list(tmp_path.iterdir()) == []
