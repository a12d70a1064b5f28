"""The five stores, filled and read without vecveil."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.client_places import ChromaPlace, PgvectorPlace, QdrantPlace
from support.file_places import FaissPlace, LancePlace
from support.places import Place, Rows, failing, text_of, topic_of, vectors_in

__all__ = [
    "PLACES",
    "ChromaPlace",
    "FaissPlace",
    "LancePlace",
    "PgvectorPlace",
    "Place",
    "QdrantPlace",
    "Rows",
    "failing",
    "make_place",
    "text_of",
    "topic_of",
    "vectors_in",
]

PLACES: Mapping[str, type[Place]] = {
    "chroma": ChromaPlace,
    "qdrant": QdrantPlace,
    "lancedb": LancePlace,
    "faiss": FaissPlace,
}
"""The stores that are folders, by the name that vecveil knows them by."""


def make_place(name: str, folder: Path) -> Place:
    """Return an empty store below a folder."""
    (folder / "store").mkdir()
    return PLACES[name](where=f"{name}:{folder / 'store'}")
