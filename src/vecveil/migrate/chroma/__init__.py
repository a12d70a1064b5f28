"""Chroma: collections in a folder, or of an open client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.migrate.chroma.disk import COSINE, DATABASE, clean_folder, find_folder, require_cleanable
from vecveil.migrate.folders import RenamingStore, hide_library_text, to_folder
from vecveil.migrate.mark import MARK, format_mark
from vecveil.migrate.store import Batch, Id
from vecveil.veil.seal import SEAL

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

LONGEST_NAME = 512  # Characters that Chroma allows.
DOCUMENT, URI, METADATA = "document", "uri", "metadata"  # The parts of a row, in a payload.


def open_chroma(target: str, collection: str) -> ChromaStore:
    """Return the store in the folder `target`, without telemetry."""
    try:
        import chromadb
        from chromadb.config import Settings
    except ImportError:
        raise MissingExtraError("chromadb", "chroma") from None
    if not (to_folder(target, "chroma") / DATABASE).is_file():
        raise InvalidInputError(f"there is no Chroma store in {target}")
    return ChromaStore(chromadb.PersistentClient(target, settings=Settings(anonymized_telemetry=False)), collection)


class ChromaStore(RenamingStore):
    """Collections of a Chroma client; `Store` says what each method promises.

    A shadow has no embedding function: the one of the collection makes clean vectors. Open it with
    `VeiledEmbeddingFunction`.

    Args:
        client: An open client; others of the same folder share what it holds open.
        collection: Name of the collection.
    """

    seal_path = (METADATA, SEAL)
    takes_bytes = False

    def __init__(self, client: ClientAPI, collection: str) -> None:
        super().__init__(collection, find_folder(client))
        self._client = client

    def list_names(self) -> Sequence[str]:
        return [found.name for found in self._client.list_collections()]

    def count_rows(self, name: str) -> int | None:
        found = self._find(name)
        with _trying("count", name):
            return None if found is None else found.count()

    def read_note(self, name: str) -> str | None:
        found = self._find(name)
        return None if found is None else (found.metadata or {}).get(MARK)

    def read_batches(self, name: str, rows: int) -> Iterator[Batch]:
        collection, start = self._find(name), 0
        step = min(rows, self._client.get_max_batch_size())
        include: Any = ["embeddings", "metadatas", "documents", "uris"]
        while collection is not None:
            with _trying("read", name):
                found: Any = collection.get(limit=step, offset=start, include=include)
            if not found["ids"]:
                return
            parts = zip(found["documents"], found["uris"], found["metadatas"], strict=True)
            yield Batch(
                ids=found["ids"],
                vectors=np.asarray(found["embeddings"], dtype=np.float32),
                payload=[{DOCUMENT: text, URI: uri, METADATA: more or {}} for text, uri, more in parts],
            )
            start += len(found["ids"])

    def create_shadow(self, mark: Mapping[str, Any]) -> None:
        like = self._open(self.collection)
        # Chroma writes settings of the index into its metadata too, where a second collection must not repeat them.
        metadata = {key: value for key, value in (like.metadata or {}).items() if not key.startswith("hnsw:")}
        index = dict(like.configuration_json.get("hnsw") or {})
        if mark["normalized"]:
            # The same ranking for rows of length one, and the right one for rows that are added with another length.
            index["space"] = COSINE
        metadata[MARK] = format_mark(mark)
        settings: Any = {"configuration": {"hnsw": index} if index else None, "metadata": metadata}
        with _trying("make", self.shadow):
            self._client.create_collection(self.shadow, embedding_function=None, **settings)

    def find_present(self, ids: Sequence[Id]) -> set[Id]:
        shadow, known = self._open(self.shadow), set[Id]()
        for some in self._portions(len(ids)):
            with _trying("read", self.shadow):
                known.update(shadow.get(ids=[str(one) for one in ids[some]], include=[])["ids"])
        return known

    def append(self, batch: Batch) -> None:
        shadow = self._open(self.shadow)
        for some in self._portions(len(batch)):
            texts: Any = [row.get(DOCUMENT) for row in batch.payload[some]]
            uris: Any = [row.get(URI) for row in batch.payload[some]]
            more: Any = [row.get(METADATA) or None for row in batch.payload[some]]
            with _trying("write to", self.shadow):
                shadow.upsert(
                    ids=[str(one) for one in batch.ids[some]],
                    embeddings=batch.vectors[some],
                    metadatas=more if any(more) else None,
                    documents=texts if any(texts) else None,
                    uris=uris if any(uris) else None,
                )

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        queries = np.asarray(vectors, dtype=np.float32)
        with _trying("search", name):
            found = self._open(name).query(query_embeddings=queries, n_results=k, include=[])
        return [list(ids) for ids in found["ids"]]

    def require_swappable(self) -> None:
        if len(self.backup) > LONGEST_NAME:
            raise InvalidInputError(f"the name of {self.collection} is too long for {self.backup} beside it")

    def rename(self, old: str, new: str) -> None:
        with _trying("rename", old):
            self._open(old).modify(name=new)

    def drop_backup(self) -> None:
        require_cleanable(self._client, self.folder)
        super().drop_backup()

    def remove(self, name: str) -> None:
        with _trying("delete", name):
            if self._find(name) is not None:
                self._client.delete_collection(name)
        if self.folder is not None and name == self.backup:
            clean_folder(self._client, self.folder)

    def _portions(self, rows: int) -> Iterator[slice]:
        """Yield slices of so many rows as Chroma's database takes at once."""
        step = self._client.get_max_batch_size()
        return (slice(start, start + step) for start in range(0, rows, step))

    def _find(self, name: str) -> Collection | None:
        from chromadb.errors import NotFoundError

        with _trying("open", name):
            try:
                return self._client.get_collection(name, embedding_function=None)
            except (NotFoundError, ValueError):
                # There can't be a collection of a name that Chroma does not allow.
                return None

    def _open(self, name: str) -> Collection:
        found = self._find(name)
        if found is None:
            raise ArtifactError(f"there is no {name} any more")
        return found


def _trying(what: str, name: str) -> AbstractContextManager[None]:
    from chromadb.errors import ChromaError

    return hide_library_text(f"the store could not {what} {name}", ChromaError)
