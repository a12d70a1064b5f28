"""Qdrant in local mode: collections in a folder, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.folders import RenamingStore, hide_library_text, remove_folder, to_folder
from vecveil.migrate.mark import format_mark
from vecveil.migrate.qdrant.folder import QdrantFolder
from vecveil.migrate.store import Batch, Id, stack_vectors

NOTE = "vecveil_mark"  # The entry of a collection's metadata that holds its mark.
LONGEST_NAME = 255  # Characters that Qdrant allows.
UNNAMED = ""  # What Qdrant calls a vector without a name, where it is among others.


def open_qdrant(target: str, collection: str, *, vector_column: str | None = None) -> QdrantStore:
    """Return the store in the folder `target`; `vector_column` is the name of a vector, where rows have several."""
    return QdrantStore(to_folder(target, "qdrant"), collection, vector=vector_column)


class QdrantStore(RenamingStore):
    """Collections of a Qdrant folder, or aliases of them; `Store` says what each method promises.

    After the swap, the collection's name is an alias of the shadow. A collection that was reached by an alias stays
    under its own name.
    """

    takes_bytes = False

    def __init__(self, folder: Path, collection: str, *, vector: str | None = None) -> None:
        super().__init__(collection, folder)
        self._files = QdrantFolder(folder)
        self._vector, self._written = vector, False

    @property
    def columns(self) -> Mapping[str, str | None]:
        return {"vector_column": self._choose(self.collection)}

    @property
    def other_vectors(self) -> Sequence[str]:
        params = self._files.client.get_collection(self.collection).config.params
        dense = [*params.vectors] if isinstance(params.vectors, dict) else []
        return sorted({*dense, *(params.sparse_vectors or {})} - {self._choose(self.collection)})

    def list_names(self) -> Sequence[str]:
        return [found.name for found in self._files.client.get_collections().collections]

    def count_rows(self, name: str) -> int | None:
        client = self._files.client
        return client.count(name).count if client.collection_exists(name) else None

    def read_note(self, name: str) -> str | None:
        client = self._files.client
        found = client.get_collection(name).config.metadata if client.collection_exists(name) else None
        return (found or {}).get(NOTE)

    def read_batches(self, name: str, rows: int) -> Iterator[Batch]:
        chosen, first, offset = self._choose(name), 0, None
        options: dict[str, Any] = {"limit": rows, "with_vectors": True, "with_payload": True}
        while True:
            found, offset = self._files.client.scroll(name, offset=offset, **options)
            if found:
                vectors = [
                    one.vector.get(chosen or UNNAMED) if isinstance(one.vector, dict) else one.vector for one in found
                ]
                yield Batch(
                    ids=[_to_id(point) for point in found],
                    vectors=stack_vectors(vectors, first_row=first),
                    payload=[point.payload or {} for point in found],
                )
            first += len(found)
            if offset is None:
                return

    def create_shadow(self, mark: Mapping[str, Any]) -> None:
        chosen, config = self._choose(self.collection), self._files.client.get_collection(self.collection).config
        params = config.params.vectors
        with hide_library_text(f"{self.shadow} could not be made", Exception):
            self._files.client.create_collection(
                self.shadow,
                vectors_config={chosen: params[chosen]} if isinstance(params, dict) and chosen is not None else params,
                on_disk_payload=config.params.on_disk_payload,
                metadata={**(config.metadata or {}), NOTE: format_mark(mark)},
            )

    def find_present(self, ids: Sequence[Id]) -> set[Id]:
        found = self._files.client.retrieve(self.shadow, ids=[*ids], with_payload=False, with_vectors=False)
        return {_to_id(point) for point in found}

    def append(self, batch: Batch) -> None:
        from qdrant_client.models import PointStruct

        chosen = self._choose(self.shadow)
        rows = zip(batch.ids, batch.vectors.tolist(), batch.payload, strict=True)
        with hide_library_text(f"rows could not be added to {self.shadow}", Exception):
            points = [
                PointStruct(id=one, vector=row if chosen is None else {chosen: row}, payload={**more})
                for one, row, more in rows
            ]
            self._files.client.upsert(self.shadow, points=points)
        self._written = True

    def finish_shadow(self) -> None:
        # Until it is read anew, Qdrant has what it compares by angle at length one, and not as it was written.
        if self._written:
            with self._files.without_client():
                self._written = False

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        client, chosen = self._files.client, self._choose(name)
        answers = (client.query_points(name, query=row, using=chosen, limit=k) for row in vectors.tolist())
        return [[_to_id(point) for point in answer.points] for answer in answers]

    def require_swappable(self) -> None:
        real = self._files.find_real(self.collection)
        others = self._files.list_aliases(real, but=self.collection)
        if others and real != self.collection:
            raise InvalidInputError(
                f"{self.collection} is one of several aliases of {real}, and the others ({others}) would go on to lead "
                "to clean rows; delete those aliases, and make them anew after the swap"
            )
        if others:
            # They would lead nowhere when the collection has another name.
            raise InvalidInputError(f"{self.collection} has aliases ({others}): migrate by one of them, which is moved")
        if len(self.backup) > LONGEST_NAME:
            raise InvalidInputError(f"{self.backup} is too long for a name: Qdrant takes {LONGEST_NAME} letters")

    def swap(self) -> str:
        self.require_swappable()
        real = self._files.find_real(self.collection)
        if real == self.collection:
            return super().swap()
        self._files.require_free(self.backup)
        self._files.point_aliases({self.backup: real, self.collection: self.shadow})
        return real

    def rename(self, old: str, new: str) -> None:
        if old == self.shadow:
            self._files.point_aliases({new: old})
        else:
            self._files.rename(old, new)

    def drop_backup(self) -> None:
        real = self._files.find_real(self.backup)
        if real == self._files.find_real(self.collection):
            raise InvalidInputError(f"{self.backup} and {self.collection} are one collection, {real}; swap first")
        others = self._files.list_aliases(real, but=self.backup)
        if others:
            raise InvalidInputError(f"{real} has other aliases ({others}), which would lead nowhere; delete them first")
        super().drop_backup()

    def remove(self, name: str) -> None:
        self._files.remove(self._files.find_real(name))
        for left in {self.collection, self.backup} - {*self.list_names()}:
            # A rename that was stopped may have left a folder.
            remove_folder(self._files.find_path(left))

    def close(self) -> None:
        self._files.client.close()

    def _choose(self, name: str) -> str | None:
        """Return the name of the vector that is migrated, or raise where it can't be told; None where it has none."""
        params: Any = self._files.client.get_collection(name).config.params.vectors
        if not isinstance(params, dict):
            if self._vector is not None:
                raise InvalidInputError(f"vectors of {name} have no names, so none can be chosen, got {self._vector!r}")
            params = {UNNAMED: params}
        if not params:
            raise InvalidInputError(f"rows of {name} have no dense vectors, which alone can be migrated")
        if self._vector is None and len(params) > 1:
            raise InvalidInputError(
                f"rows of {name} have several vectors; name one (--vector-column): {', '.join(sorted(params))}"
            )
        chosen = next(iter(params)) if self._vector is None else one_of(self._vector, params, f"vector of {name}")
        if params[chosen].multivector_config is not None:
            raise InvalidInputError(
                f"rows of {name} have many vectors each in place of one (multivector_config), which can't be migrated"
            )
        return chosen or None


def _to_id(point: Any) -> Id:
    return point.id if isinstance(point.id, int) else str(point.id)
