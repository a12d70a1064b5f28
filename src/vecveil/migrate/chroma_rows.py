"""The rows of a Chroma collection, read and written in portions that its database takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.migrate.folders import no_library_text
from vecveil.migrate.marking import MARK, written
from vecveil.migrate.store import Batch, Id

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

DOCUMENT, URI, METADATA = "document", "uri", "metadata"
"""What the parts of a row are called in a payload."""


def trying(what: str, name: str) -> AbstractContextManager[None]:
    """Turn Chroma's errors into one that says what was tried."""
    from chromadb.errors import ChromaError

    return no_library_text(f"{what} {name}", ChromaError)


def read_rows(collection: Collection, rows: int) -> Iterator[Batch]:
    """Yield a collection in batches."""
    start = 0
    while True:
        with trying("read", collection.name):
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


def known_ids(collection: Collection, ids: Sequence[Id], step: int) -> set[Id]:
    """Return which of these ids a collection has, asking for `step` at a time."""
    known: set[Id] = set()
    for start in range(0, len(ids), step):
        with trying("read", collection.name):
            found = collection.get(ids=[str(one) for one in ids[start : start + step]], include=[])
        known.update(found["ids"])
    return known


def write_rows(collection: Collection, batch: Batch, step: int) -> None:
    """Add rows to a collection, `step` at a time."""
    for start in range(0, len(batch), step):
        rows = batch.payload[start : start + step]
        texts: Any = [row.get(DOCUMENT) for row in rows]
        uris: Any = [row.get(URI) for row in rows]
        more: Any = [row.get(METADATA) or None for row in rows]
        with trying("write to", collection.name):
            collection.upsert(
                ids=[str(one) for one in batch.ids[start : start + step]],
                embeddings=batch.vectors[start : start + step],
                metadatas=more if any(more) else None,
                documents=texts if any(texts) else None,
                uris=uris if any(uris) else None,
            )


def nearest(collection: Collection, vectors: Embeddings, k: int) -> list[list[Id]]:
    """Return the ids that a search finds for each vector."""
    queries = np.asarray(vectors, dtype=np.float32)
    with trying("search", collection.name):
        found = collection.query(query_embeddings=queries, n_results=k, include=[])
    return [list(ids) for ids in found["ids"]]


def shadow_settings(like: Collection, mark: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a shadow of `like` is made with, its mark among it."""
    # Chroma writes settings of the index into its metadata too, where a second collection must not repeat them.
    metadata = {key: value for key, value in (like.metadata or {}).items() if not key.startswith("hnsw:")}
    index = dict(like.configuration_json.get("hnsw") or {})
    if mark["normalised"]:
        # The same ranking for rows of length one, and the right one for rows that are added with another length.
        index["space"] = "cosine"
    return {"configuration": {"hnsw": index} if index else None, "metadata": {**metadata, MARK: written(mark)}}
