"""Folders of models: found without running code, known by their digests."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from vecveil.core.digests import file_digest, json_digest
from vecveil.core.errors import ArtifactError, InvalidInputError

NEVER_LOADED = (
    "onnx/*",
    "openvino/*",
    "*pytorch_model*",
    "*.h5",
    "*.msgpack",
    "*.onnx",
    "*.ot",
    "README*",
    "*/README*",
)
"""Files of a model that hold pickled weights, weights for other engines, or nothing that is computed with."""


def find_package(name: str) -> Path | None:
    """Return the folder of an installed package without importing it; None where there is none."""
    # Of a name with dots, the packages above it would be imported.
    spec = find_spec(name) if name.isidentifier() else None
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def digest_folder(folder: Path) -> str:
    """Return the SHA-256 over a model's files: their names in the folder and their contents.

    That is weights, tokenizer, and the settings of every module. Hidden files and files that are never loaded are left
    out: they change nothing that the model computes.
    """
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return json_digest({name: _digest_file(path) for name, path in found.items() if not _is_left_out(name)})


def require_digest(folder: Path, digest: str, *, name: str) -> Path:
    """Return the folder of the model `name`, or raise unless `digest_folder` gives `digest` for it."""
    if not folder.is_dir():
        raise ArtifactError(f"the package of {name} holds no model: install it again")
    if (found := digest_folder(folder)) != digest:
        raise ArtifactError(f"{folder} is not {name}: the SHA-256 of its files is {found}, not {digest}")
    return folder


def require_whole(folder: Path) -> None:
    """Raise where a model would load what `digest_folder` leaves out: pickled weights, or what lies elsewhere."""
    for path in sorted(folder.rglob("pytorch_model*")):
        if not any(path.parent.glob("*.safetensors")):
            raise InvalidInputError(f"{path.relative_to(folder)} holds pickled weights: save the model as safetensors")
    if (folder / "adapter_config.json").is_file():
        raise InvalidInputError("it is an adapter for another model: merge the two, and save them as one")
    modules = folder / "modules.json"
    for module in json.loads(modules.read_text(encoding="utf-8")) if modules.is_file() else ():
        if _is_left_out(f"{(place := str(module.get('path', '')))}/config.json".lstrip("/")) or place.startswith("/"):
            raise InvalidInputError(f"modules.json names the folder {place!r}, which is no part of the model")


def _is_left_out(name: str) -> bool:
    hidden = any(part.startswith(".") for part in PurePosixPath(name).parts)
    return hidden or any(fnmatchcase(name, pattern) for pattern in NEVER_LOADED)


def _digest_file(path: Path) -> str:
    """Return the SHA-256 of a file, which is read again only after it has changed."""
    state = path.stat()
    return _digest_state(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _digest_state(path: Path, size: int, modified: int) -> str:
    del size, modified
    return file_digest(path)
