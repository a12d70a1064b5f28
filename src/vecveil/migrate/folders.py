"""Stores in a folder, and the swap by two renames."""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vecveil.core.atomic import require_own
from vecveil.core.digests import text_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, VecveilError
from vecveil.migrate.store import Store


def to_folder(target: str, store: str) -> Path:
    """Return the folder that a user named; an address is refused, and not shown: it may hold a password."""
    if "://" in target:
        raise InvalidInputError(f"{store} takes folders only ({store}:FOLDER), got an address")
    return Path(target)


@contextmanager
def trying(what: str) -> Iterator[None]:
    """Turn a library's errors into one that names what failed; their own words may quote rows of the store."""
    try:
        yield
    except VecveilError:
        raise
    except Exception as error:  # noqa: BLE001  # libraries fail in many ways
        raise ArtifactError(f"the store could not {what} ({type(error).__name__})") from None


def remove_folder(path: Path) -> None:
    """Delete a folder with all that is in it, if it is there."""
    with trying(f"delete {path}; close whatever has it open, and repeat this"):
        if path.exists():
            shutil.rmtree(path)


class RenamingStore(Store):
    """A store whose collections are renamed one at a time.

    While a backup is dropped, a note is kept in the folder: until it is gone, the backup counts as one without rows.

    Attributes:
        folder: Where the store is; None where it is in memory, and nothing of it stays.
    """

    def __init__(self, collection: str, folder: Path | None) -> None:
        super().__init__(collection)
        self.folder = folder
        # A name may be longer than a file system allows.
        note = f"{text_digest(self.backup).hex()[:16]}.dropping"
        self._drop_note = None if folder is None else folder / note

    @abstractmethod
    def count_rows(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""

    @abstractmethod
    def rename(self, old: str, new: str) -> None:
        """Give a collection another name."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Delete a collection, or what is left of it, with all traces of it on disk."""

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; 0 for a backup whose drop was stopped."""
        rows = self.count_rows(name)
        dropping = name == self.backup and self._drop_note is not None and self._drop_note.exists()
        return 0 if rows is None and dropping else rows

    def is_swap_stopped(self) -> bool:
        """Return whether a swap was stopped after the first rename.

        The collection has its backup's name then, and its own is free; or an application that found nothing there has
        made an empty collection of that name.
        """
        kept, waiting = self.count(self.backup), self.count(self.shadow)
        if kept is None or waiting is None or self.read_mark(self.shadow) is None:
            return False
        rows = self.count(self.collection)
        if rows is None:
            return True
        empty = rows == 0 and self.read_mark(self.collection) is None
        return empty and kept == waiting and self.shadow_has_all(self.backup)

    def swap(self) -> str:
        """Rename the collection, unless that is done, and the shadow."""
        rows = self.count_rows(self.collection)
        if rows == 0 and self.count_rows(self.backup) is not None:
            # An empty collection that was made between the two renames gives way.
            self.remove(self.collection)
        elif rows is not None:
            self.rename(self.collection, self.backup)
        self.rename(self.shadow, self.collection)
        return self.backup

    def drop_backup(self) -> None:
        """Delete the backup."""
        if self._drop_note is not None:
            require_own(self._drop_note)
            self._drop_note.touch(mode=0o600)
        self.remove(self.backup)
        if self._drop_note is not None:
            self._drop_note.unlink()
