"""The five stores, filled and read without vecveil."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import chromadb
import faiss
import lancedb
import numpy as np
import psycopg
import pyarrow as pa
from chromadb.config import Settings
from numpy.typing import NDArray
from psycopg import sql
from qdrant_client import QdrantClient, models

from support.veils import PRIVATE_WORD
from vecveil.core.arrays import Embeddings
from vecveil.migrate import Store, open_store

Rows = dict[str, tuple[bytes, Any, Any]]
"""By id: the vector's bytes, the topic, the text."""


def topic_of(row: int) -> dict[str, Any]:
    """What goes along."""
    return {"topic": f"topic {row % 3}", "page": row}


def text_of(row: int) -> str:
    """What stays behind."""
    return f"Patient {row} has {PRIVATE_WORD} and it's said that she rests well."


@dataclass(frozen=True, kw_only=True)
class Place:
    """A store: where it is, and how to fill and read it."""

    where: str

    has_payload: ClassVar[bool] = True

    def fill(self, name: str, vectors: Embeddings, *, first: int = 0) -> None:
        """Make a collection, or add rows to one."""
        raise NotImplementedError

    def rows(self, name: str) -> Rows | None:
        """Return all rows of a collection; None where there is none."""
        raise NotImplementedError

    @contextmanager
    def opened(self, name: str = "notes", **columns: str) -> Iterator[Store]:
        """Yield the store as vecveil opens it."""
        store = open_store(self.where, name, **columns)
        try:
            yield store
        finally:
            store.close()


class ChromaPlace(Place):
    @property
    def client(self) -> Any:
        return chromadb.PersistentClient(self.where.partition(":")[2], settings=Settings(anonymized_telemetry=False))

    def fill(self, name: str, vectors: Embeddings, *, first: int = 0) -> None:
        made = self.client.get_or_create_collection(
            name, embedding_function=None, metadata={"owner": "us"}, configuration={"hnsw": {"space": "ip"}}
        )
        numbers = range(first, first + len(vectors))
        if len(vectors):
            made.add(
                ids=[f"note-{row}" for row in numbers],
                embeddings=vectors,
                documents=[text_of(row) for row in numbers],
                metadatas=[topic_of(row) for row in numbers],
            )

    def rows(self, name: str) -> Rows | None:
        if name not in [one.name for one in self.client.list_collections()]:
            return None
        found = self.client.get_collection(name, embedding_function=None).get(
            include=["embeddings", "documents", "metadatas"]
        )
        columns = (found["ids"], found["embeddings"], found["metadatas"], found["documents"])
        return {one: (_bytes(vector), more, text) for one, vector, more, text in zip(*columns, strict=True)}


class QdrantPlace(Place):
    @contextmanager
    def client(self) -> Iterator[QdrantClient]:
        client = QdrantClient(path=self.where.partition(":")[2])
        try:
            yield client
        finally:
            client.close()

    def fill(self, name: str, vectors: Embeddings, *, first: int = 0) -> None:
        with self.client() as client:
            if not client.collection_exists(name):
                params = models.VectorParams(size=vectors.shape[1], distance=models.Distance.DOT)
                client.create_collection(name, vectors_config=params)
            points = [
                models.PointStruct(id=row, vector=vector, payload={**topic_of(row), "page_content": text_of(row)})
                for row, vector in enumerate(vectors.tolist(), start=first)
            ]
            if points:
                client.upsert(name, points=points)

    def rows(self, name: str) -> Rows | None:
        with self.client() as client:
            if not client.collection_exists(name):
                return None
            found, _ = client.scroll(name, limit=1000, with_vectors=True, with_payload=True)
        payloads = [dict(point.payload or {}) for point in found]
        texts = [payload.pop("page_content", None) for payload in payloads]
        rows = zip(found, payloads, texts, strict=True)
        return {str(point.id): (_bytes(point.vector), payload, text) for point, payload, text in rows}


class LancePlace(Place):
    @property
    def folder(self) -> Path:
        return Path(self.where.partition(":")[2])

    def fill(self, name: str, vectors: Embeddings, *, first: int = 0) -> None:
        connection, numbers = lancedb.connect(str(self.folder)), range(first, first + len(vectors))
        kind = pa.list_(pa.float32(), vectors.shape[1])
        schema = pa.schema(
            [
                pa.field("id", pa.string(), nullable=False),
                pa.field("body", pa.string(), nullable=False),
                pa.field("vector", kind),
                pa.field("more", pa.struct([("topic", pa.string()), ("page", pa.int64())])),
            ]
        )
        rows = {
            "id": [f"it's {row}" for row in numbers],
            "body": [text_of(row) for row in numbers],
            "vector": pa.array(list(vectors), kind),
            "more": [topic_of(row) for row in numbers],
        }
        table = pa.table(rows, schema=schema)
        if (self.folder / f"{name}.lance").exists():
            connection.open_table(name).add(table)
        else:
            connection.create_table(name, table)

    def rows(self, name: str) -> Rows | None:
        if not (self.folder / f"{name}.lance").exists():
            return None
        found = lancedb.connect(str(self.folder)).open_table(name).to_arrow().to_pylist()
        return {row["id"]: (_bytes(row["vector"]), row["more"], row["body"]) for row in found}


class FaissPlace(Place):
    has_payload = False

    @property
    def folder(self) -> Path:
        return Path(self.where.partition(":")[2])

    def fill(self, name: str, vectors: Embeddings, *, first: int = 0) -> None:
        path = self.folder / name
        index = faiss.read_index(str(path)) if path.exists() else faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
        index.add_with_ids(np.asarray(vectors, dtype=np.float32), np.arange(first, first + len(vectors)) * 7)
        faiss.write_index(index, str(path))

    def rows(self, name: str) -> Rows | None:
        if not (self.folder / name).exists():
            return None
        index = faiss.read_index(str(self.folder / name))
        ids = faiss.vector_to_array(index.id_map).tolist()
        return {str(one): (_bytes(index.reconstruct(one)), None, None) for one in ids}


class PgvectorPlace(Place):
    def fill(self, name: str, vectors: Embeddings, *, first: int = 0) -> None:
        with psycopg.connect(self.where, autocommit=True) as connection:
            table = sql.Identifier(name)
            connection.execute(
                sql.SQL(
                    "CREATE TABLE IF NOT EXISTS {} (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
                    "content text NOT NULL, more jsonb, embedding vector({}))"
                ).format(table, sql.Literal(vectors.shape[1]))
            )
            insert = sql.SQL("INSERT INTO {} (content, more, embedding) VALUES (%s, %s, %s::real[]::vector)")
            for row, vector in enumerate(vectors.tolist(), start=first):
                connection.execute(insert.format(table), (text_of(row), json.dumps(topic_of(row)), vector))

    def rows(self, name: str) -> Rows | None:
        with psycopg.connect(self.where, autocommit=True) as connection:
            if connection.execute("SELECT to_regclass(%s)", [f'"{name}"']).fetchone() == (None,):
                return None
            query = sql.SQL("SELECT number, embedding::real[], more, content FROM {}").format(sql.Identifier(name))
            return {str(one): (_bytes(vector), more, text) for one, vector, more, text in connection.execute(query)}


def _bytes(vector: Any) -> bytes:
    return np.asarray(vector, dtype=np.float32).tobytes()


def vectors_in(rows: Rows) -> NDArray[np.float32]:
    """Return the vectors of all rows."""
    return np.stack([np.frombuffer(vector, dtype=np.float32) for vector, _, _ in rows.values()])


def failing(function: Callable[..., Any], *, after: int) -> Callable[..., Any]:
    """Return a function that works so often, and then is as if the program had been killed."""
    calls = 0

    def called(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    return called


PLACES: Mapping[str, type[Place]] = {
    "chroma": ChromaPlace,
    "qdrant": QdrantPlace,
    "lancedb": LancePlace,
    "faiss": FaissPlace,
}
"""The stores that are folders, by the name that vecveil knows them by."""
