"""The folder of Qdrant's local mode: its files, names and aliases."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import TYPE_CHECKING

from vecveil.core.atomic import atomic_file
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.migrate.folders import hide_library_text, remove_folder

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


class QdrantFolder:
    """A folder of Qdrant that no one else has open, with its client."""

    def __init__(self, path: Path) -> None:
        self._path, self._meta = path, path / "meta.json"
        self.client = self._open()

    @contextmanager
    def without_client(self) -> Iterator[None]:
        """Have no client while the block runs, and a new one afterwards."""
        self.client.close()
        try:
            yield
        finally:
            self.client = self._open()

    def find_real(self, name: str) -> str:
        """Return the collection that an alias leads to; the name itself where it is none."""
        aliases = self.client.get_aliases().aliases
        return next((one.collection_name for one in aliases if one.alias_name == name), name)

    def list_aliases(self, real: str, *, but: str) -> str:
        """Return the aliases of a collection, one excepted, in words."""
        found = (one.alias_name for one in self.client.get_aliases().aliases if one.collection_name == real)
        return ", ".join(sorted(name for name in found if name != but))

    def point_aliases(self, aliases: dict[str, str]) -> None:
        """Make aliases lead to other collections, all at once."""
        from qdrant_client.models import CreateAlias, CreateAliasOperation, DeleteAlias, DeleteAliasOperation

        operations: list[CreateAliasOperation | DeleteAliasOperation] = []
        for name, real in aliases.items():
            operations.append(DeleteAliasOperation(delete_alias=DeleteAlias(alias_name=name)))
            operations.append(CreateAliasOperation(create_alias=CreateAlias(collection_name=real, alias_name=name)))
        with hide_library_text(f"the aliases {', '.join(aliases)} could not be changed", Exception):
            self.client.update_collection_aliases(change_aliases_operations=operations)

    def require_free(self, name: str) -> None:
        """Raise where a collection or an alias has a name."""
        if self.client.collection_exists(name):
            raise InvalidInputError(f"there is a {name} already, of something else")

    def rename(self, old: str, new: str) -> None:
        """Give a collection another name, which Qdrant can't.

        It keeps each collection in a folder, and one file lists them: when that is replaced, the copy of the folder
        becomes the collection.
        """
        self.require_free(new)
        remove_folder(self.find_path(new))
        shutil.copytree(self.find_path(old), self.find_path(new), copy_function=_copy_file)
        meta = json.loads(self._meta.read_bytes())
        for entries in (meta["collections"], meta.get("text_indexes", {})):
            if old in entries:
                entries[new] = entries.pop(old)
        with self.without_client():
            with atomic_file(self._meta) as draft:
                draft.write_text(json.dumps(meta), encoding="utf-8")
                draft.chmod(S_IMODE(self._meta.stat().st_mode))
            remove_folder(self.find_path(old))

    def remove(self, name: str) -> None:
        """Delete a collection, its files first: Qdrant says nothing of files that it can't delete."""
        with self.without_client():
            remove_folder(self.find_path(name))
        with hide_library_text(f"{name} could not be deleted", Exception):
            self.client.delete_collection(name)

    def find_path(self, name: str) -> Path:
        """Return the folder of a collection."""
        return self._path / "collection" / name

    def _open(self) -> QdrantClient:
        try:
            from qdrant_client import QdrantClient
        except ImportError:
            raise MissingExtraError("qdrant-client", "qdrant") from None
        if not self._meta.is_file():
            raise InvalidInputError(f"there is no Qdrant store in {self._path}")
        with hide_library_text(f"{self._path} cannot be read as a Qdrant store", Exception):
            try:
                return QdrantClient(path=str(self._path))
            except RuntimeError:
                raise ArtifactError(f"{self._path} is open in another program, and local mode serves one") from None


def _copy_file(source: str, target: str) -> None:
    shutil.copy2(source, target)
    # The original is deleted next.
    with Path(target).open("rb+") as file:
        os.fsync(file.fileno())
