"""Qdrant in local mode: collections in a folder, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.core.arrays import Embeddings
from vecveil.migrate.marking import read_mark, written
from vecveil.migrate.qdrant_copy import BACKUP
from vecveil.migrate.qdrant_folder import LibraryErrors, open_folder
from vecveil.migrate.qdrant_rows import id_of, other_vectors, pages, used_vector, vectors_in
from vecveil.migrate.qdrant_swap import QdrantSwap
from vecveil.migrate.store import Batch, Id, shadow_of

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

NOTE = "vecveil_mark"
"""Where the mark stands in a collection's metadata."""


def open_qdrant(target: str, collection: str, *, vector_column: str | None = None) -> QdrantStore:
    """Return the store in the folder `target`; `vector_column` is the name of a vector, where rows have several."""
    return QdrantStore(open_folder(target), Path(target), collection, vector=vector_column)


class QdrantStore:
    """Collections of a Qdrant client; `Store` says what each method promises.

    Args:
        client: An open client.
        folder: Where it keeps its files.
        collection: Name of the collection, or an alias of one.
        vector: Name of the vector that is migrated, where rows have several.
    """

    def __init__(self, client: QdrantClient, folder: Path, collection: str, *, vector: str | None = None) -> None:
        self._client, self._folder = client, folder
        self.collection, self._vector = collection, vector
        self._written: set[str] = set()

    @property
    def columns(self) -> Mapping[str, str | None]:
        """The name of the vector."""
        return {"vector_column": self._using(self.collection)}

    @property
    def never(self) -> Sequence[str]:
        """The other vectors, dense and sparse."""
        return other_vectors(self._client, self.collection, self._using(self.collection))

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        return [found.name for found in self._client.get_collections().collections]

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        return self._client.count(name).count if self._client.collection_exists(name) else None

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        if not self._client.collection_exists(name):
            return None
        return read_mark((self._client.get_collection(name).config.metadata or {}).get(NOTE), name)

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        using, first = self._using(name), 0
        for found in pages(self._client, name, rows):
            yield Batch(
                ids=[id_of(point) for point in found],
                vectors=vectors_in(found, using, first_row=first),
                payload=[point.payload or {} for point in found],
            )
            first += len(found)

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        using, config = self._using(self.collection), self._client.get_collection(self.collection).config
        params = config.params.vectors
        own = {key: value for key, value in (config.metadata or {}).items() if key not in {NOTE, BACKUP}}
        with LibraryErrors(f"{name} could not be made"):
            self._client.create_collection(
                name,
                vectors_config={using: params[using]} if isinstance(params, dict) and using is not None else params,
                on_disk_payload=config.params.on_disk_payload,
                metadata={**own, NOTE: written(mark)},
            )

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        found = self._client.retrieve(name, ids=[*ids], with_payload=False, with_vectors=False)
        return {id_of(point) for point in found}

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        from qdrant_client.models import PointStruct

        using = self._using(name)
        rows = zip(batch.ids, batch.vectors.tolist(), batch.payload, strict=True)
        with LibraryErrors(f"rows could not be added to {name}"):
            points = [
                PointStruct(id=one, vector=row if using is None else {using: row}, payload={**more})
                for one, row, more in rows
            ]
            self._client.upsert(name, points=points)
        self._written.add(name)

    def finish(self, name: str) -> None:
        """Read it anew: until then Qdrant has what it compares by angle at length one, and not as it was written."""
        if name in self._written:
            self._client.close()
            self._client = open_folder(str(self._folder))
            self._written.clear()

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        using = self._using(name)
        answers = (self._client.query_points(name, query=row, using=using, limit=k) for row in vectors.tolist())
        return [[id_of(point) for point in answer.points] for answer in answers]

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped at this backup."""
        shadow = shadow_of(self.collection)
        mark = self.mark(shadow)
        return mark is not None and self._swap(backup).halfway(shadow, mark.get("made"))

    def require_swappable(self, backup: str) -> None:
        """Raise where a swap would be refused."""
        self._swap(backup).require_possible()

    def swap(self, shadow: str, backup: str) -> str:
        """Change the names."""
        return self._swap(backup).swap(shadow, (self.mark(shadow) or {}).get("made"))

    def drop(self, backup: str) -> None:
        """Delete the clean rows."""
        self._swap(backup).drop()

    def close(self) -> None:
        """Let go of it."""
        self._client.close()

    def _using(self, name: str) -> str | None:
        return used_vector(self._client, name, self._vector)

    def _swap(self, backup: str) -> QdrantSwap:
        return QdrantSwap(client=self._client, folder=self._folder, collection=self.collection, backup=backup)
