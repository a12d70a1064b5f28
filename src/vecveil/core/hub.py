"""Commits of models on the Hugging Face hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.core.model_folders import NEVER_LOADED

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
    try:
        from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError, RevisionNotFoundError
    except ImportError:
        raise MissingExtraError("sentence-transformers", "models") from None

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
