"""Chroma: collections in a folder, or of an open client."""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError, needs_extra
from vecveil.migrate.folders import RenamingStore, remove_folder, to_folder, trying
from vecveil.migrate.store import MARK, Batch, Id, format_mark
from vecveil.veil.seal import SEAL

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

LONGEST_NAME = 512  # Characters that Chroma allows.
DOCUMENT, URI, METADATA = "document", "uri", "metadata"  # The parts of a row, in a payload.

DATABASE, COSINE = "chroma.sqlite3", "cosine"
LOCK_SECONDS = 10.0  # How long to wait until others let go of the database.
UUID = "-".join("[0-9a-f]" * digits for digits in (8, 4, 4, 4, 12))  # How the folders of indexes are called.

# How the header of an index begins: version, an offset, rows that fit in, rows that are in, bytes of a row.
HEADER, VERSION = struct.Struct("<i4Q"), 1


def open_chroma(target: str, collection: str) -> ChromaStore:
    """Return the store in the folder `target`, without telemetry."""
    with needs_extra("chromadb", "chroma"):
        import chromadb
        from chromadb.config import Settings
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
        super().__init__(collection, _find_folder(client))
        self._client = client

    def list_names(self) -> Sequence[str]:
        return [found.name for found in self._client.list_collections()]

    def count_rows(self, name: str) -> int | None:
        found = self._find(name)
        with trying(f"count {name}"):
            return None if found is None else found.count()

    def read_note(self, name: str) -> str | None:
        found = self._find(name)
        return None if found is None else (found.metadata or {}).get(MARK)

    def read_batches(self, name: str, rows: int) -> Iterator[Batch]:
        collection, start = self._find(name), 0
        step = min(rows, self._client.get_max_batch_size())
        include: Any = ["embeddings", "metadatas", "documents", "uris"]
        while collection is not None:
            with trying(f"read {name}"):
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
        with trying(f"make {self.shadow}"):
            self._client.create_collection(self.shadow, embedding_function=None, **settings)

    def find_present(self, ids: Sequence[Id]) -> set[Id]:
        shadow, known = self._open(self.shadow), set[Id]()
        for some in self._portions(len(ids)):
            with trying(f"read {self.shadow}"):
                known.update(shadow.get(ids=[str(one) for one in ids[some]], include=[])["ids"])
        return known

    def append(self, batch: Batch) -> None:
        shadow = self._open(self.shadow)
        for some in self._portions(len(batch)):
            texts: Any = [row.get(DOCUMENT) for row in batch.payload[some]]
            uris: Any = [row.get(URI) for row in batch.payload[some]]
            more: Any = [row.get(METADATA) or None for row in batch.payload[some]]
            with trying(f"write to {self.shadow}"):
                shadow.upsert(
                    ids=[str(one) for one in batch.ids[some]],
                    embeddings=batch.vectors[some],
                    metadatas=more if any(more) else None,
                    documents=texts if any(texts) else None,
                    uris=uris if any(uris) else None,
                )

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        queries = np.asarray(vectors, dtype=np.float32)
        with trying(f"search {name}"):
            found = self._open(name).query(query_embeddings=queries, n_results=k, include=[])
        return [list(ids) for ids in found["ids"]]

    def require_swappable(self) -> None:
        if len(self.backup) > LONGEST_NAME:
            raise InvalidInputError(f"the name of {self.collection} is too long for {self.backup} beside it")

    def rename(self, old: str, new: str) -> None:
        with trying(f"rename {old}"):
            self._open(old).modify(name=new)

    def drop_backup(self) -> None:
        _require_cleanable(self._client, self.folder)
        super().drop_backup()

    def remove(self, name: str) -> None:
        with trying(f"delete {name}"):
            if self._find(name) is not None:
                self._client.delete_collection(name)
        if self.folder is not None and name == self.backup:
            _clean_folder(self._client, self.folder)

    def _portions(self, rows: int) -> Iterator[slice]:
        """Yield slices of so many rows as Chroma's database takes at once."""
        step = self._client.get_max_batch_size()
        return (slice(start, start + step) for start in range(0, rows, step))

    def _find(self, name: str) -> Collection | None:
        from chromadb.errors import NotFoundError

        with trying(f"open {name}"):
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


def _find_folder(client: ClientAPI) -> Path | None:
    """Return the folder that a client keeps everything in; None where it is in memory, or a server's."""
    settings = client.get_settings()
    here = settings.is_persistent and not settings.chroma_server_host
    return Path(settings.persist_directory) if here else None


def _require_cleanable(client: ClientAPI, folder: Path | None) -> None:
    """Raise where traces of deleted collections can't be reached, or another program holds on to the store."""
    if client.get_settings().chroma_server_host:
        raise InvalidInputError("what a server leaves on its disk can't be reached from here; open its folder there")
    if folder is not None:
        with _open_database(folder) as database:
            database.execute("BEGIN EXCLUSIVE")
            database.execute("ROLLBACK")


def _clean_folder(client: ClientAPI, folder: Path) -> None:
    """Remove what deleted collections have left; others, in every database of the folder, stay as they are.

    A process that has held clean vectors should end then: Chroma goes on to write memory that it has not filled.
    """
    with _open_database(folder) as database:
        # The index of words keeps those of deleted texts until it is made anew.
        database.execute("INSERT INTO embedding_fulltext_search (embedding_fulltext_search) VALUES ('rebuild')")
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        owners = dict(database.execute("SELECT id, collection FROM segments"))
        # Versions before 1.0 wrote the space here only, and Chroma does not show it as part of the configuration.
        spaces = dict(database.execute("SELECT segment_id, str_value FROM segment_metadata WHERE key = 'hnsw:space'"))
        databases = database.execute("SELECT tenant_id, name FROM databases").fetchall()
    configured = _read_spaces(client, databases)
    for path in folder.glob(UUID):
        if path.name in owners:
            known = {spaces.get(path.name), configured.get(owners[path.name], COSINE)}
            _erase_unused(path, lengths=COSINE in known)
        else:
            remove_folder(path)


def _read_spaces(client: ClientAPI, databases: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return how vectors are compared according to the configurations of collections, by their ids."""
    import chromadb

    spaces = {}
    for tenant, name in databases:
        opened: Any = chromadb.Client(client.get_settings(), tenant=tenant, database=name)
        with opened:
            for one in opened.list_collections():
                spaces[str(one.id)] = (one.configuration_json.get("hnsw") or {}).get("space", COSINE)
    return spaces


def _erase_unused(index: Path, *, lengths: bool) -> None:
    """Overwrite what is in the files of an index and not part of it: memory that Chroma wrote and had not filled.

    It fills in the lengths of vectors only where it compares by cosine.
    """
    header = index / "header.bin"
    if not header.exists():
        return
    version, _, _, rows, row_bytes = HEADER.unpack_from(header.read_bytes())
    if version != VERSION:
        raise ArtifactError(f"{index} has version {version} of Chroma's files, and only {VERSION} can be cleaned")
    for name, used in (("data_level0.bin", rows * row_bytes), ("length.bin", rows * 4 if lengths else 0)):
        with (index / name).open("rb+") as file:
            rest = file.seek(0, os.SEEK_END) - used
            file.seek(used)
            file.write(bytes(max(0, rest)))
            os.fsync(file.fileno())


@contextmanager
def _open_database(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / DATABASE
    try:
        with closing(sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)) as database:
            yield database
    except sqlite3.Error as error:
        held = f"{path} can't be cleaned ({type(error).__name__}); stop whatever has the store open, and repeat this"
        raise ArtifactError(held) from None
