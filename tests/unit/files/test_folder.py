from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.command_line import listing
from vecveil.core.digests import json_digest
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.files import Artifact, read_artifact, write_artifact

ARTIFACT = Artifact(
    kind="thing", format=2, manifest={"name": "Zoë", "sizes": (1, 2)}, tensors={"a": np.arange(3.0), "b": np.eye(2)}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_artifact(ARTIFACT, tmp_path / "thing")
    return tmp_path / "thing"


def _rewritten(folder: Path, *, resign: bool, **changes: Any) -> Path:
    """Change keys of the manifest (None drops one), and make its digest fit again if `resign`."""
    document = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    document = {key: value for key, value in {**document, **changes}.items() if value is not None}
    if resign:
        document["digest"] = json_digest({key: value for key, value in document.items() if key != "digest"})
    (folder / "manifest.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def _count_numbers(_: Mapping[str, Any]) -> int:
    return 100


def _read(folder: Path) -> Artifact:
    return read_artifact(folder, kind="thing", newest=2, count_numbers=_count_numbers)


def test_what_is_written_is_read_back(folder: Path) -> None:
    read = _read(folder)
    assert read.digest() == ARTIFACT.digest()
    assert read.manifest["name"] == "Zoë"
    np.testing.assert_array_equal(read.tensors["b"], np.eye(2))


def test_a_folder_holds_json_and_safetensors_and_nothing_else(folder: Path) -> None:
    assert set(listing(folder)) == {"manifest.json", "tensors.safetensors"}


def test_a_folder_is_not_overwritten_unless_asked(folder: Path) -> None:
    before = listing(folder)
    with pytest.raises(InvalidInputError, match="exists already"):
        write_artifact(ARTIFACT, folder)
    assert listing(folder) == before
    write_artifact(ARTIFACT, folder, overwrite=True)
    assert _read(folder).digest() == ARTIFACT.digest()


def test_overwriting_replaces_only_what_is_such_a_folder(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "thesis.tex").write_text("years of it")
    with pytest.raises(InvalidInputError, match="work"):
        write_artifact(ARTIFACT, work, overwrite=True)
    assert listing(tmp_path) == {"work/": b"", "work/thesis.tex": b"years of it"}


def test_overwriting_does_not_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(InvalidInputError, match="notes"):
        write_artifact(ARTIFACT, tmp_path / "notes", overwrite=True)
    assert listing(tmp_path) == {"notes": b"mine"}


def test_another_kind_is_refused(folder: Path) -> None:
    with pytest.raises(ArtifactError, match="is not a veil: its manifest says 'thing'"):
        read_artifact(folder, kind="veil", newest=2, count_numbers=_count_numbers)


def test_a_newer_format_asks_for_a_newer_version(folder: Path) -> None:
    with pytest.raises(ArtifactError, match="format 2, this version reads up to 1; install a newer vecveil"):
        read_artifact(folder, kind="thing", newest=1, count_numbers=_count_numbers)


@pytest.mark.parametrize("number", [0, -1, "2", 1.5, True])
def test_a_format_that_is_no_number_is_refused(folder: Path, number: object) -> None:
    with pytest.raises(ArtifactError, match="no valid format number"):
        _read(_rewritten(folder, resign=True, format=number))


@pytest.mark.parametrize(
    ("key", "resign"),
    [(key, resign) for key in ("kind", "format", "tensors") for resign in (False, True)] + [("digest", False)],
)
def test_a_manifest_without_one_of_its_keys_is_refused(folder: Path, key: str, resign: bool) -> None:
    with pytest.raises(ArtifactError, match="thing"):
        _read(_rewritten(folder, resign=resign, **{key: None}))


def test_a_manifest_changed_by_hand_is_refused(folder: Path) -> None:
    with pytest.raises(ArtifactError, match="fails its own digest"):
        _read(_rewritten(folder, resign=False, name="Zoe"))


@pytest.mark.parametrize("content", [b"", b'{"kind": "thi', b"\xff\xfe", b"\xef\xbb\xbf{}"])
def test_a_manifest_that_is_no_json_is_refused(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(ArtifactError, match=r"manifest\.json cannot be read as JSON"):
        _read(folder)


@pytest.mark.parametrize(("content", "kind"), [("[]", "list"), ("3", "int"), ('"x"', "str"), ("null", "NoneType")])
def test_a_manifest_that_is_no_object_is_refused(folder: Path, content: str, kind: str) -> None:
    (folder / "manifest.json").write_text(content)
    with pytest.raises(ArtifactError, match=f"must hold a JSON object, got {kind}"):
        _read(folder)


def test_a_missing_manifest_and_a_missing_folder_are_refused(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    for path in (folder, folder / "nothing", folder / "tensors.safetensors"):
        with pytest.raises(ArtifactError, match=path.name):
            _read(path)


def test_missing_tensors_are_refused(folder: Path) -> None:
    (folder / "tensors.safetensors").unlink()
    with pytest.raises(ArtifactError, match=r"tensors\.safetensors cannot be read"):
        _read(folder)


@pytest.mark.parametrize("size", [0, 4, 60])
def test_tensors_that_were_cut_off_are_refused(folder: Path, size: int) -> None:
    path = folder / "tensors.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ArtifactError, match=r"tensors\.safetensors cannot be read"):
        _read(folder)


def test_one_flipped_bit_in_a_tensor_is_noticed(folder: Path) -> None:
    path = folder / "tensors.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"tensor '[ab]' fails its digest"):
        _read(folder)


def test_tensors_of_another_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    other = Artifact(kind="thing", format=2, manifest={}, tensors={"a": np.arange(3.0)})
    write_artifact(other, tmp_path / "other")
    (tmp_path / "other" / "tensors.safetensors").replace(folder / "tensors.safetensors")
    with pytest.raises(ArtifactError, match="does not hold the tensors that the manifest lists"):
        _read(folder)


def test_a_tensor_in_another_order_of_memory_is_the_same_tensor(tmp_path: Path) -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    one, other = (Artifact(kind="thing", format=1, manifest={}, tensors={"m": m}) for m in (matrix, matrix.T.copy().T))
    assert one.digest() == other.digest()
    write_artifact(other, tmp_path / "m")
    np.testing.assert_array_equal(
        read_artifact(tmp_path / "m", kind="thing", newest=1, count_numbers=_count_numbers).tensors["m"], matrix
    )


def test_a_folder_can_be_read_by_its_owner_alone(folder: Path) -> None:
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
