"""The tables of LanceDB as folders, which may be renamed and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.folders import Drops, no_library_text, remove_folder

ENDING = ".lance"
"""What the folder of a table ends in."""


class LanceFolder:
    """Folders of tables.

    Args:
        folder: Where they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.drops = Drops(folder)

    def names(self) -> Sequence[str]:
        """Return the names of all tables."""
        found = (path.name.removesuffix(ENDING) for path in self._folder.glob(f"*{ENDING}"))
        return sorted(name for name in found if self.has(name))

    def has(self, name: str) -> bool:
        """Return whether there is a table; a folder without a version is one that was never made, or half deleted."""
        return any((self._path(name) / "_versions").glob("*.manifest"))

    def require_free(self, name: str) -> None:
        """Raise where a folder is in the way that is no table."""
        if self._path(name).exists() and not self.has(name):
            raise InvalidInputError(f"{self._path(name)} is in the way, which is no table; give it another name")

    def swap(self, collection: str, shadow: str, backup: str) -> None:
        """Rename both; where one is renamed already, the other."""
        # LanceDB renames no tables, but a table is a folder that may be moved; for a moment none has the name.
        with no_library_text(f"rename {collection}", OSError):
            if self.has(collection):
                self._path(collection).rename(self._path(backup))
            self._path(shadow).rename(self._path(collection))

    def remove(self, name: str) -> None:
        """Delete a table."""
        remove_folder(self._path(name))

    def drop(self, name: str) -> None:
        """Delete a table; one that is stopped can be repeated."""
        with self.drops.dropping(name):
            # Without its versions it is no table any more, whatever is left of it when this is stopped.
            remove_folder(self._path(name) / "_versions")
            remove_folder(self._path(name))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{ENDING}"
