"""Folders of models: known by their digests, and fetched from the hub."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from vecveil.core.digests import file_digest, json_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, needs_extra

NEVER_LOADED = (
    "onnx/*",
    "openvino/*",
    "*pytorch_model*",
    "*.h5",
    "*.msgpack",
    "*.onnx",
    "*.ot",
    "*.py",
    "data_config.json",
    "README*",
    "*/README*",
)
"""Files of a model that hold pickled weights, weights for other engines, code, or nothing that is computed with."""


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


_TIMEOUT_SECONDS = 10.0

# Every model that can be loaded has one of these.
_FIRST_FILES = ("modules.json", "config.json")


@dataclass(frozen=True)
class Snapshot:
    """One commit of a hub model.

    Attributes:
        folder: The local copy of its files.
        commit: The commit's hash.
    """

    folder: Path
    commit: str


def find_snapshot(name: str, revision: str | None, *, cache: str | None = None) -> Snapshot:
    """Return the commit that `revision` of the model `name` stands for: today's on the hub, or else the cached one.

    All files of the commit are fetched but those that are never loaded.

    Args:
        name: `organization/model`.
        revision: A branch, a tag or a commit; None is the main branch.
        cache: Folder of the local copies; None is the hub's own.

    Raises:
        InvalidInputError: If neither the hub nor the cache knows the model.
        MissingExtraError: If huggingface_hub is not installed; it comes with sentence-transformers.
    """
    with needs_extra("sentence-transformers", "local"):
        from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError, RevisionNotFoundError

    wanted = f"cannot load the model {f'{name}@{revision}' if revision else name!r}"
    try:
        snapshot = _ask_hub(name, revision, cache)
    except HFValidationError:
        raise InvalidInputError(f"{wanted}: neither a folder nor a name on a hub") from None
    except Exception as error:
        # Offline, behind a proxy, rate-limited or without a token: whatever keeps the hub away, a local copy will do.
        local = _look_in_cache(name, revision, cache)
        if local is not None:
            return local
        if isinstance(error, RevisionNotFoundError):
            reason = "the hub knows the model, but not this revision"
        elif isinstance(error, RepositoryNotFoundError):
            reason = "there is no such folder, and the hub has no such model or does not show it without a token"
        else:
            reason = f"no such folder, no copy in the cache, and the hub cannot be reached ({type(error).__name__})"
        raise InvalidInputError(f"{wanted}: {reason}") from error
    if snapshot is None:
        raise InvalidInputError(f"{wanted}: the hub holds neither {' nor '.join(_FIRST_FILES)} for it")
    return snapshot


def _ask_hub(name: str, revision: str | None, cache: str | None) -> Snapshot | None:
    from huggingface_hub import HfApi, snapshot_download

    # Downloads are retried for minutes, so a misspelled name or a missing network has to show here.
    HfApi().model_info(name, revision=revision, timeout=_TIMEOUT_SECONDS)
    # This also notes in the cache which commit the revision stood for, for the day when the hub is away.
    folder = Path(snapshot_download(name, revision=revision, cache_dir=cache, ignore_patterns=[*NEVER_LOADED]))
    # The cache keeps the files of each commit in a folder of that name.
    return Snapshot(folder, folder.name) if any((folder / file).is_file() for file in _FIRST_FILES) else None


def _look_in_cache(name: str, revision: str | None, cache: str | None) -> Snapshot | None:
    from huggingface_hub import try_to_load_from_cache

    for file in _FIRST_FILES:
        found = try_to_load_from_cache(name, file, cache_dir=cache, revision=revision)
        if isinstance(found, str):
            folder = Path(found).parent
            return Snapshot(folder, folder.name)
    return None
