"""Qdrant in local mode: collections in a folder, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.migrate.marking import read_mark, written
from vecveil.migrate.qdrant_swap import BACKUP, is_backup, swap_names
from vecveil.migrate.store import Batch, Id

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

NOTE = "vecveil_mark"
"""Where the mark stands in a collection's metadata."""


def open_qdrant(target: str, collection: str, *, vector_column: str | None = None) -> QdrantStore:
    """Return the store in the folder `target`; `vector_column` is the name of a vector, where rows have several."""
    try:
        from qdrant_client import QdrantClient
    except ImportError:
        raise MissingExtraError("qdrant-client", "qdrant") from None
    if not (Path(target) / "meta.json").is_file():
        raise InvalidInputError(f"there is no Qdrant store in {target}")
    try:
        client = QdrantClient(path=target)
    except RuntimeError:
        raise ArtifactError(f"{target} is open in another program, and Qdrant's local mode serves one") from None
    return QdrantStore(client, collection, vector=vector_column)


class QdrantStore:
    """Collections of a Qdrant client; `Store` says what each method promises.

    Args:
        client: An open client.
        collection: Name of the collection, or an alias of one.
        vector: Name of the vector that is migrated, where rows have several.
    """

    def __init__(self, client: QdrantClient, collection: str, *, vector: str | None = None) -> None:
        self._client = client
        self.collection = collection
        self._vector = vector

    @property
    def never(self) -> Sequence[str]:
        """The other vectors, dense and sparse."""
        params = self._client.get_collection(self.collection).config.params
        dense = [*params.vectors] if isinstance(params.vectors, dict) else []
        return sorted({*dense, *(params.sparse_vectors or {})} - {self._using(self.collection)})

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
        using, first, offset = self._using(name), 0, None
        while True:
            found, offset = self._client.scroll(name, limit=rows, offset=offset, with_vectors=True, with_payload=True)
            if found:
                yield Batch(
                    ids=[_id(point.id) for point in found],
                    vectors=_vectors([point.vector for point in found], using, first_row=first),
                    payload=[point.payload or {} for point in found],
                )
            first += len(found)
            if offset is None:
                return

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        using, config = self._using(self.collection), self._client.get_collection(self.collection).config
        params = config.params.vectors
        self._client.create_collection(
            name,
            vectors_config={using: params[using]} if isinstance(params, dict) and using is not None else params,
            on_disk_payload=config.params.on_disk_payload,
            metadata={**_own_notes(config.metadata), NOTE: written(mark)},
        )

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        found = self._client.retrieve(name, ids=[*ids], with_payload=False, with_vectors=False)
        return {_id(point.id) for point in found}

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        from qdrant_client.models import PointStruct

        using = self._using(name)
        points = [
            PointStruct(id=one, vector=row if using is None else {using: row}, payload=dict(payload))
            for one, row, payload in zip(batch.ids, batch.vectors.tolist(), batch.payload, strict=True)
        ]
        self._client.upsert(name, points=points)

    def finish(self, name: str) -> None:
        """Nothing is left to do: Qdrant keeps its index up to date."""

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        using = self._using(name)
        answers = (self._client.query_points(name, query=row, using=using, limit=k) for row in vectors.tolist())
        return [[_id(point.id) for point in answer.points] for answer in answers]

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped at this backup."""
        return is_backup(self._client, backup) and self.mark(self.collection) is None

    def swap(self, shadow: str, backup: str) -> None:
        """Change the names."""
        swap_names(self._client, self.collection, shadow, backup)

    def close(self) -> None:
        """Let go of it."""
        self._client.close()

    def _using(self, name: str) -> str | None:
        """Return the name of the vector that is migrated; None where it has none."""
        params = self._client.get_collection(name).config.params.vectors
        if not isinstance(params, dict):
            return None
        if self._vector in params or len(params) == 1:
            return self._vector or next(iter(params))
        raise InvalidInputError(
            f"rows of {name} have several vectors; name one (--vector-column): {', '.join(sorted(params))}"
        )


def _id(value: Any) -> Id:
    return value if isinstance(value, int) else str(value)


def _vectors(found: Sequence[Any], using: str | None, *, first_row: int) -> Embeddings:
    rows = [vector if using is None or vector is None else vector.get(using) for vector in found]
    missing = next((row for row, vector in enumerate(rows) if vector is None), None)
    if missing is not None:
        raise InvalidInputError(f"row {first_row + missing} has no vector")
    return np.asarray(rows, dtype=np.float32)


def _own_notes(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (metadata or {}).items() if key not in {NOTE, BACKUP}}
