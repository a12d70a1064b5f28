"""A folder of `manifest.json` and `tensors.safetensors`, such as a veil."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.atomic import atomic_folder, create_file, exists_already
from vecveil.core.digests import array_digest, json_digest
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.texts import shorten, strip_controls

MANIFEST = "manifest.json"
TENSORS = "tensors.safetensors"

MANIFEST_BYTES = 2**24
DEEPEST = 32
"""Lists and tables inside one another, of a manifest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Artifact:
    """The content of such a folder.

    Attributes:
        kind: What it is, such as "veil".
        format: Number of the format; a reader refuses numbers that it doesn't know.
        manifest: Everything that fits JSON.
        tensors: Everything that doesn't.
    """

    kind: str
    format: int
    manifest: Mapping[str, Any]
    tensors: Mapping[str, NDArray[Any]]

    def digest(self) -> str:
        """Return the SHA-256 of the whole content."""
        return json_digest(self.document())

    def document(self) -> dict[str, Any]:
        """Return the manifest with kind, format and digests of the tensors."""
        digests = {name: array_digest(tensor) for name, tensor in sorted(self.tensors.items())}
        return {**self.manifest, "kind": self.kind, "format": self.format, "tensors": digests}


def require_free(path: Path, kind: str, *, overwrite: bool) -> None:
    """Raise if a folder of that kind can't be written there: a first look, before anything that takes time.

    Nothing but a folder of the same kind is overwritten, and only where asked.
    """
    if not path.absolute().parent.is_dir():
        raise InvalidInputError(f"there is no folder {path.parent} to write {path.name} to")
    if path.exists() and not overwrite:
        raise exists_already(path)
    if path.exists() and _read_kind(path) != kind:
        raise InvalidInputError(f"{path} is not a {kind}, so it is not overwritten; choose another name")


def write_artifact(artifact: Artifact, path: Path, *, overwrite: bool = False) -> None:
    """Write the folder `path` whole, or not at all, for its owner alone to read, where `require_free` lets it."""
    from safetensors.numpy import save_file

    require_free(path, artifact.kind, overwrite=overwrite)
    with atomic_folder(path.absolute(), overwrite=overwrite) as draft:
        document = {**artifact.document(), "digest": artifact.digest()}
        try:
            _require_plain(document)
        except ValueError as error:
            problem = f"the {artifact.kind} can't be kept: {error}; take them out of the concept"
            raise InvalidInputError(problem) from None
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        for name in (MANIFEST, TENSORS):
            create_file(draft / name)
        (draft / MANIFEST).write_text(text + "\n", encoding="utf-8")
        save_file({name: np.ascontiguousarray(tensor) for name, tensor in artifact.tensors.items()}, draft / TENSORS)


def read_artifact(path: Path, *, kind: str, newest: int, count_numbers: Callable[[Mapping[str, Any]], int]) -> Artifact:
    """Return what the folder `path` holds, or raise unless it is whole, of that kind, and of a known format.

    Args:
        path: The folder. Whoever wrote it is not trusted.
        kind: What it must be.
        newest: The last format that the caller knows.
        count_numbers: Returns how many numbers the tensors that go with a manifest have at the most.
    """
    if not path.exists():
        raise ArtifactError(f"there is no {kind} {path}")
    if not path.is_dir():
        raise ArtifactError(f"{path} is a file; a {kind} is a folder")
    document = _read_manifest(path / MANIFEST)
    if document.get("kind") != kind:
        raise ArtifactError(f"{path} is not a {kind}: its manifest says {shorten(repr(document.get('kind')))}")
    number = document.get("format")
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ArtifactError(f"{path / MANIFEST} has no valid format number, got {shorten(repr(number))}")
    if number > newest:
        found = shorten(str(number))
        raise ArtifactError(f"{path} has format {found}, this version reads up to {newest}; install a newer vecveil")
    stated = {key: value for key, value in document.items() if key != "digest"}
    if document.get("digest") != json_digest(stated):
        raise ArtifactError(f"{path / MANIFEST} fails its own digest: it was changed or damaged after it was written")
    manifest = {key: value for key, value in stated.items() if key not in {"kind", "format", "tensors"}}
    # Eight bytes a number, and a header.
    tensors = _read_tensors(path / TENSORS, stated.get("tensors"), most=8 * count_numbers(manifest) + MANIFEST_BYTES)
    return Artifact(kind=kind, format=number, manifest=manifest, tensors=tensors)


def _read_kind(path: Path) -> object:
    try:
        return _read_manifest(path / MANIFEST).get("kind")
    except ArtifactError:
        return None


def _read_manifest(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise ArtifactError(f"{path.parent} has no {MANIFEST}: it is not a folder that vecveil wrote")
    try:
        document = json.loads(
            read_regular_file(path, most=MANIFEST_BYTES).decode("utf-8"),
            object_pairs_hook=_build_object,
            parse_constant=_refuse_constant,
        )
        _require_plain(document)
    except RecursionError:
        raise ArtifactError(f"{path} cannot be read as JSON: it is nested too deep") from None
    except (ValueError, OSError) as error:
        raise ArtifactError(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(document, dict):
        raise ArtifactError(f"{path} must hold a JSON object, got {type(document).__name__}")
    return document


def read_regular_file(path: Path, *, most: int) -> bytes:
    """Return the content of a file, or raise unless it is one: no link, device or pipe, of at most so many bytes."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("it is no regular file")
        if found.st_size > most:
            raise OSError(f"it has {found.st_size:,} bytes, at most {most:,} are read")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read(most)
    finally:
        os.close(descriptor)


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        # Readers differ in which of the two they take.
        raise ValueError("a key stands twice in one object")
    return built


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _require_plain(value: Any, depth: int = 0) -> None:
    """Raise where something is nested too deep, or a terminal would obey it; keys count like values."""
    if depth > DEEPEST:
        raise ValueError(f"it is nested deeper than {DEEPEST}")
    if isinstance(value, str) and strip_controls(value) != value:
        raise ValueError("a string holds control characters")
    inside = [*value.keys(), *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    for inner in inside:
        _require_plain(inner, depth + 1)


def _read_tensors(path: Path, digests: Any, *, most: int) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors: dict[str, NDArray[Any]] = load(read_regular_file(path, most=most))
    except (SafetensorError, OSError, ValueError) as error:
        raise ArtifactError(f"{path} cannot be read: {error}") from None
    except KeyError as error:
        raise ArtifactError(f"{path} cannot be read: it holds tensors of type {error}") from None
    if not isinstance(digests, dict) or set(digests) != set(tensors):
        raise ArtifactError(f"{path} does not hold the tensors that the manifest lists")
    # The library gives them in any order, and an error should always name the same.
    for name, tensor in sorted(tensors.items()):
        if array_digest(tensor) != digests[name]:
            raise ArtifactError(f"{path}: tensor {name!r} fails its digest: it was changed or damaged")
    return tensors
