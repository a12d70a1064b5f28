"""Stores that are folders: what they are opened from, and what a drop that was stopped leaves in them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vecveil.core.digests import text_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, VecveilError


def folder_of(target: str, store: str) -> Path:
    """Return the folder that a user named; an address is refused, and not shown: there may be a password in it."""
    if "://" in target:
        raise InvalidInputError(f"{store} is opened from a folder only, {store}:FOLDER, and not from an address")
    return Path(target)


@contextmanager
def no_library_text(what: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn a library's errors into one that says what was tried; their own words may hold what is in the store."""
    try:
        yield
    except VecveilError:
        raise
    except errors as error:
        raise ArtifactError(f"the store could not {what} ({type(error).__name__})") from None


class Drops:
    """Notes of drops that were begun: until one is done, its backup counts as one without rows, to be dropped again.

    Args:
        folder: Where the store is; None where it is in memory, and nothing of it stays.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def begun(self, name: str) -> bool:
        """Return whether a drop was begun and not done."""
        return self._folder is not None and self._note(self._folder, name).exists()

    @contextmanager
    def dropping(self, name: str) -> Iterator[None]:
        """Keep a note until everything inside is done."""
        if self._folder is not None:
            self._note(self._folder, name).touch()
        yield
        if self._folder is not None:
            self._note(self._folder, name).unlink()

    @staticmethod
    def _note(folder: Path, name: str) -> Path:
        # A name may be longer than what a file system takes for one.
        return folder / f"{text_digest(name).hex()[:16]}.dropping"


def remove_folder(path: Path) -> None:
    """Delete a folder with all that is in it, if it is there."""
    with no_library_text(f"delete {path.name}; close whatever has it open, and repeat this", OSError):
        if path.exists():
            shutil.rmtree(path)
