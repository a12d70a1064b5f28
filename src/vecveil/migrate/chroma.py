"""Chroma: collections in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.migrate.chroma_folder import DATABASE, clean, folder_of_client, require_cleanable
from vecveil.migrate.chroma_rows import known_ids, nearest, read_rows, shadow_settings, trying, write_rows
from vecveil.migrate.completeness import was_stopped_between
from vecveil.migrate.folders import Drops, folder_of
from vecveil.migrate.marking import MARK, read_mark
from vecveil.migrate.store import Batch, Id

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

LONGEST_NAME = 512
"""What Chroma takes for a name, in characters."""


def open_chroma(target: str, collection: str) -> ChromaStore:
    """Return the store in the folder `target`, without telemetry."""
    try:
        import chromadb
        from chromadb.config import Settings
    except ImportError:
        raise MissingExtraError("chromadb", "chroma") from None
    if not (folder_of(target, "chroma") / DATABASE).is_file():
        raise InvalidInputError(f"there is no Chroma store in {target}")
    return ChromaStore(chromadb.PersistentClient(target, settings=Settings(anonymized_telemetry=False)), collection)


class ChromaStore:
    """Collections of a Chroma client; `Store` says what each method promises.

    A shadow has no embedding function: the one of the collection makes clean vectors. Open it with
    `VeiledEmbeddingFunction`.

    Args:
        client: An open client.
        collection: Name of the collection.
    """

    never: tuple[str, ...] = ()
    columns: Mapping[str, str | None] = MappingProxyType({})

    def __init__(self, client: ClientAPI, collection: str) -> None:
        self._client = client
        self.collection = collection
        self._folder = folder_of_client(client)
        self._drops = Drops(self._folder)

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        return [found.name for found in self._client.list_collections()]

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        found = self._found(name)
        if found is None:
            return 0 if self._drops.begun(name) else None
        with trying("count", name):
            return found.count()

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        found = self._found(name)
        return None if found is None else read_mark((found.metadata or {}).get(MARK), name)

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        found = self._found(name)
        return iter(()) if found is None else read_rows(found, min(rows, self._client.get_max_batch_size()))

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        settings = shadow_settings(self._open(self.collection), mark)
        with trying("make", name):
            self._client.create_collection(name, embedding_function=None, **settings)

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        return known_ids(self._open(name), ids, self._client.get_max_batch_size())

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        write_rows(self._open(name), batch, self._client.get_max_batch_size())

    def finish(self, name: str) -> None:
        """Nothing is left to do: Chroma keeps its index up to date."""

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        return nearest(self._open(name), vectors, k)

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped at this backup."""
        return was_stopped_between(self, backup)

    def require_swappable(self, backup: str) -> None:
        """Raise where the backup's name would be too long."""
        if len(backup) > LONGEST_NAME:
            raise InvalidInputError(f"the name of {self.collection} is too long for {backup} beside it")

    def swap(self, shadow: str, backup: str) -> str:
        """Change the names."""
        # Chroma renames one collection at a time; for a moment none has the name, or an empty one that came since.
        here = self._found(self.collection)
        with trying("rename", self.collection):
            if here is not None and self._found(backup) is not None and here.count() == 0:
                self._client.delete_collection(self.collection)
            elif here is not None:
                here.modify(name=backup)
            self._open(shadow).modify(name=self.collection)
        return backup

    def drop(self, backup: str) -> None:
        """Delete a backup, and what Chroma would leave of it in its folder."""
        require_cleanable(self._client)
        with self._drops.dropping(backup), trying("delete", backup):
            if self._found(backup) is not None:
                self._client.delete_collection(backup)
            if self._folder is not None:
                clean(self._folder)

    def close(self) -> None:
        """Nothing is held open: clients of one folder share what is."""

    def _found(self, name: str) -> Collection | None:
        from chromadb.errors import NotFoundError

        with trying("open", name):
            try:
                return self._client.get_collection(name, embedding_function=None)
            except (NotFoundError, ValueError):
                # A name that Chroma would not take for a collection is one that it has none of.
                return None

    def _open(self, name: str) -> Collection:
        found = self._found(name)
        if found is None:
            raise ArtifactError(f"there is no {name} any more")
        return found
