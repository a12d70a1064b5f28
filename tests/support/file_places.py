"""Stores that are files: LanceDB and FAISS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import faiss
import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from support.places import Place, Rows, text_of, topic_of, vector_bytes
from support.veils import unit_vectors
from vecveil.core.arrays import Embeddings


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
        return {row["id"]: (vector_bytes(row["vector"]), row["more"], row["body"]) for row in found}

    def seals(self, name: str) -> dict[Any, Any]:
        found = lancedb.connect(str(self.folder)).open_table(name).to_arrow().to_pylist()
        return {row["id"]: row["seal"] for row in found if "seal" in row}

    def revise(self, name: str, row: int, *, vector: Embeddings | None = None, topic: str | None = None) -> None:
        table = lancedb.connect(str(self.folder)).open_table(name)
        kept = table.search().where(f"id = 'it''s {row}'").to_arrow().to_pylist()[0]
        kept["vector"] = kept["vector"] if vector is None else vector.tolist()
        kept["more"] = {**kept["more"], **({} if topic is None else {"topic": topic})}
        rows = pa.Table.from_pylist([kept], schema=table.schema)
        table.merge_insert("id").when_matched_update_all().execute(rows)


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
        return {str(one): (vector_bytes(index.reconstruct(one)), None, None) for one in ids}

    def seals(self, name: str) -> dict[Any, Any]:
        path = self.folder / f"{name}.seals.parquet"
        table = pq.read_table(path) if path.exists() else pa.table({"id": [], "seal": []})
        return dict(zip(table["id"].to_pylist(), table["seal"].to_pylist(), strict=True))

    def revise(self, name: str, row: int, *, vector: Embeddings | None = None, topic: str | None = None) -> None:
        del topic
        path = self.folder / name
        index = faiss.read_index(str(path))
        number = np.array([row * 7])
        index.remove_ids(number)
        index.add_with_ids(np.asarray(unit_vectors(1, seed=99) if vector is None else vector[None]), number)
        faiss.write_index(index, str(path))
