"""Chroma: collections in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.migrate.marking import MARK, read_mark, written
from vecveil.migrate.store import Batch, Id

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

DOCUMENT, URI, METADATA = "document", "uri", "metadata"
"""What the parts of a row are called in a payload."""


def open_chroma(target: str, collection: str) -> ChromaStore:
    """Return the store in the folder `target`, without telemetry."""
    try:
        import chromadb
        from chromadb.config import Settings
    except ImportError:
        raise MissingExtraError("chromadb", "chroma") from None
    if not (Path(target) / "chroma.sqlite3").is_file():
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

    def __init__(self, client: ClientAPI, collection: str) -> None:
        self._client = client
        self.collection = collection

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        return [found.name for found in self._client.list_collections()]

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        found = self._found(name)
        return None if found is None else found.count()

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        found = self._found(name)
        return None if found is None else read_mark((found.metadata or {}).get(MARK), name)

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        collection, start = self._open(name), 0
        while True:
            found: Any = collection.get(
                limit=rows, offset=start, include=["embeddings", "metadatas", "documents", "uris"]
            )
            if not found["ids"]:
                return
            parts = zip(found["documents"], found["uris"], found["metadatas"], strict=True)
            yield Batch(
                ids=found["ids"],
                vectors=np.asarray(found["embeddings"], dtype=np.float32),
                payload=[{DOCUMENT: text, URI: uri, METADATA: more or {}} for text, uri, more in parts],
            )
            start += len(found["ids"])

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        like = self._open(self.collection)
        # Chroma writes settings of the index into its metadata too, where a second collection must not repeat them.
        metadata = {key: value for key, value in (like.metadata or {}).items() if not key.startswith("hnsw:")}
        index = like.configuration_json.get("hnsw")
        settings: Any = {"hnsw": dict(index)} if index else None
        self._client.create_collection(
            name,
            configuration=settings,
            metadata={**metadata, MARK: written(mark)},
            embedding_function=None,
        )

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        return {*self._open(name).get(ids=[str(one) for one in ids], include=[])["ids"]}

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        collection, step = self._open(name), self._client.get_max_batch_size()
        for start in range(0, len(batch), step):
            rows = batch.payload[start : start + step]
            texts: Any = [row.get(DOCUMENT) for row in rows]
            uris: Any = [row.get(URI) for row in rows]
            more: Any = [row.get(METADATA) or None for row in rows]
            collection.upsert(
                ids=[str(one) for one in batch.ids[start : start + step]],
                embeddings=batch.vectors[start : start + step],
                metadatas=more if any(more) else None,
                documents=texts if any(texts) else None,
                uris=uris if any(uris) else None,
            )

    def finish(self, name: str) -> None:
        """Nothing is left to do: Chroma keeps its index up to date."""

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        queries = np.asarray(vectors, dtype=np.float32)
        found = self._open(name).query(query_embeddings=queries, n_results=k, include=[])
        return [list(ids) for ids in found["ids"]]

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped at this backup."""
        return self._found(self.collection) is None and self._found(backup) is not None

    def swap(self, shadow: str, backup: str) -> None:
        """Change the names."""
        # Chroma renames one collection at a time; for a moment none has the name.
        if self._found(self.collection) is not None:
            self._open(self.collection).modify(name=backup)
        self._open(shadow).modify(name=self.collection)

    def close(self) -> None:
        """Nothing is held open: clients of one folder share what is."""

    def _found(self, name: str) -> Collection | None:
        from chromadb.errors import ChromaError

        try:
            return self._open(name)
        except (ChromaError, ValueError):
            # A name that Chroma would not take for a collection is one that it has none of.
            return None

    def _open(self, name: str) -> Collection:
        return self._client.get_collection(name, embedding_function=None)
