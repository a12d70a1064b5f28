"""Stores that are filled and read by a client: Chroma, Qdrant and PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import chromadb
import psycopg
from chromadb.config import Settings
from psycopg import sql
from qdrant_client import QdrantClient, models

from support.places import Place, Rows, text_of, topic_of, vector_bytes
from vecveil.core.arrays import Embeddings


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
        return {one: (vector_bytes(vector), more, text) for one, vector, more, text in zip(*columns, strict=True)}

    def seals(self, name: str) -> dict[Any, Any]:
        found = self.client.get_collection(name, embedding_function=None).get(include=["metadatas"])
        pairs = zip(found["ids"], found["metadatas"], strict=True)
        return {one: more["seal"] for one, more in pairs if more and "seal" in more}

    def revise(self, name: str, row: int, *, vector: Embeddings | None = None, topic: str | None = None) -> None:
        found = self.client.get_collection(name, embedding_function=None)
        more = None if topic is None else [{**topic_of(row), "topic": topic}]
        found.update(ids=[f"note-{row}"], embeddings=None if vector is None else [vector], metadatas=more)


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
        return {str(point.id): (vector_bytes(point.vector), payload, text) for point, payload, text in rows}

    def seals(self, name: str) -> dict[Any, Any]:
        with self.client() as client:
            found, _ = client.scroll(name, limit=1000, with_payload=True)
        return {point.id: point.payload["seal"] for point in found if "seal" in (point.payload or {})}  # type: ignore[index]

    def revise(self, name: str, row: int, *, vector: Embeddings | None = None, topic: str | None = None) -> None:
        with self.client() as client:
            if vector is not None:
                client.update_vectors(name, points=[models.PointVectors(id=row, vector=vector.tolist())])
            if topic is not None:
                client.set_payload(name, payload={"topic": topic}, points=[row])


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
            return {
                str(one): (vector_bytes(vector), more, text) for one, vector, more, text in connection.execute(query)
            }

    def seals(self, name: str) -> dict[Any, Any]:
        with psycopg.connect(self.where, autocommit=True) as connection:
            kinds = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(name))).description
            if "seal" not in [column.name for column in kinds or ()]:
                return {}
            query = sql.SQL("SELECT number, seal FROM {}").format(sql.Identifier(name))
            return dict(connection.execute(query).fetchall())

    def revise(self, name: str, row: int, *, vector: Embeddings | None = None, topic: str | None = None) -> None:
        with psycopg.connect(self.where, autocommit=True) as connection:
            table, number = sql.Identifier(name), row + 1
            if vector is not None:
                query = sql.SQL("UPDATE {} SET embedding = %s::real[]::vector WHERE number = %s")
                connection.execute(query.format(table), (vector.tolist(), number))
            if topic is not None:
                more = json.dumps({**topic_of(row), "topic": topic})
                connection.execute(sql.SQL("UPDATE {} SET more = %s WHERE number = %s").format(table), (more, number))
