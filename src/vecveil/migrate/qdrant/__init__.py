"""Qdrant in local mode: collections in a folder, without a server."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import TYPE_CHECKING, Any

from vecveil.core.arrays import Embeddings
from vecveil.core.atomic import atomic_file
from vecveil.core.errors import ArtifactError, InvalidInputError, needs_extra
from vecveil.migrate.folders import RenamingStore, remove_folder, to_folder, trying
from vecveil.migrate.store import Batch, Id, choose_vectors, format_mark, stack_vectors

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

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
        self._path, self._meta = folder, folder / "meta.json"
        self._client = self._open()
        self._vector, self._written = vector, False

    @property
    def columns(self) -> Mapping[str, str | None]:
        return {"vector_column": self._choose(self.collection)}

    @property
    def other_vectors(self) -> Sequence[str]:
        params = self._client.get_collection(self.collection).config.params
        dense = [*params.vectors] if isinstance(params.vectors, dict) else []
        return sorted({*dense, *(params.sparse_vectors or {})} - {self._choose(self.collection)})

    def list_names(self) -> Sequence[str]:
        return [found.name for found in self._client.get_collections().collections]

    def count_rows(self, name: str) -> int | None:
        client = self._client
        return client.count(name).count if client.collection_exists(name) else None

    def read_note(self, name: str) -> str | None:
        client = self._client
        found = client.get_collection(name).config.metadata if client.collection_exists(name) else None
        return (found or {}).get(NOTE)

    def read_batches(self, name: str, rows: int) -> Iterator[Batch]:
        chosen, first, offset = self._choose(name), 0, None
        options: dict[str, Any] = {"limit": rows, "with_vectors": True, "with_payload": True}
        while True:
            found, offset = self._client.scroll(name, offset=offset, **options)
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
        chosen, config = self._choose(self.collection), self._client.get_collection(self.collection).config
        params = config.params.vectors
        with trying(f"make {self.shadow}"):
            self._client.create_collection(
                self.shadow,
                vectors_config={chosen: params[chosen]} if isinstance(params, dict) and chosen is not None else params,
                on_disk_payload=config.params.on_disk_payload,
                metadata={**(config.metadata or {}), NOTE: format_mark(mark)},
            )

    def find_present(self, ids: Sequence[Id]) -> set[Id]:
        found = self._client.retrieve(self.shadow, ids=[*ids], with_payload=False, with_vectors=False)
        return {_to_id(point) for point in found}

    def append(self, batch: Batch) -> None:
        from qdrant_client.models import PointStruct

        chosen = self._choose(self.shadow)
        rows = zip(batch.ids, batch.vectors.tolist(), batch.payload, strict=True)
        with trying(f"write to {self.shadow}"):
            points = [
                PointStruct(id=one, vector=row if chosen is None else {chosen: row}, payload={**more})
                for one, row, more in rows
            ]
            self._client.upsert(self.shadow, points=points)
        self._written = True

    def finish_shadow(self) -> None:
        # Until it is read anew, Qdrant has what it compares by angle at length one, and not as it was written.
        if self._written:
            with self._without_client():
                self._written = False

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        client, chosen = self._client, self._choose(name)
        answers = (client.query_points(name, query=row, using=chosen, limit=k) for row in vectors.tolist())
        return [[_to_id(point) for point in answer.points] for answer in answers]

    def require_swappable(self) -> None:
        real = self._find_real(self.collection)
        others = self._list_aliases(real, but=self.collection)
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
        real = self._find_real(self.collection)
        if real == self.collection:
            return super().swap()
        self._require_free(self.backup)
        self._point_aliases({self.backup: real, self.collection: self.shadow})
        return real

    def rename(self, old: str, new: str) -> None:
        if old == self.shadow:
            self._point_aliases({new: old})
            return
        # Qdrant renames nothing. It keeps each collection in a folder, and one file lists them: when that is replaced,
        # the copy of the folder becomes the collection.
        self._require_free(new)
        remove_folder(self._find_path(new))
        shutil.copytree(self._find_path(old), self._find_path(new), copy_function=_copy_file)
        meta = json.loads(self._meta.read_bytes())
        for entries in (meta["collections"], meta.get("text_indexes", {})):
            if old in entries:
                entries[new] = entries.pop(old)
        with self._without_client():
            with atomic_file(self._meta) as draft:
                draft.write_text(json.dumps(meta), encoding="utf-8")
                draft.chmod(S_IMODE(self._meta.stat().st_mode))
            remove_folder(self._find_path(old))

    def drop_backup(self) -> None:
        real = self._find_real(self.backup)
        if real == self._find_real(self.collection):
            raise InvalidInputError(f"{self.backup} and {self.collection} are one collection, {real}; swap first")
        others = self._list_aliases(real, but=self.backup)
        if others:
            raise InvalidInputError(f"{real} has other aliases ({others}), which would lead nowhere; delete them first")
        super().drop_backup()

    def remove(self, name: str) -> None:
        real = self._find_real(name)
        # Its files first: Qdrant says nothing of files that it can't delete.
        with self._without_client():
            remove_folder(self._find_path(real))
        with trying(f"delete {real}"):
            self._client.delete_collection(real)
        for left in {self.collection, self.backup} - {*self.list_names()}:
            # A rename that was stopped may have left a folder.
            remove_folder(self._find_path(left))

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _without_client(self) -> Iterator[None]:
        """Have no client while the block runs, and a new one afterwards."""
        self._client.close()
        try:
            yield
        finally:
            self._client = self._open()

    def _find_real(self, name: str) -> str:
        """Return the collection that an alias leads to; the name itself where it is none."""
        aliases = self._client.get_aliases().aliases
        return next((one.collection_name for one in aliases if one.alias_name == name), name)

    def _list_aliases(self, real: str, *, but: str) -> str:
        """Return the aliases of a collection, one excepted, in words."""
        found = (one.alias_name for one in self._client.get_aliases().aliases if one.collection_name == real)
        return ", ".join(sorted(name for name in found if name != but))

    def _point_aliases(self, aliases: dict[str, str]) -> None:
        """Make aliases lead to other collections, all at once."""
        from qdrant_client.models import CreateAlias, CreateAliasOperation, DeleteAlias, DeleteAliasOperation

        operations: list[CreateAliasOperation | DeleteAliasOperation] = []
        for name, real in aliases.items():
            operations.append(DeleteAliasOperation(delete_alias=DeleteAlias(alias_name=name)))
            operations.append(CreateAliasOperation(create_alias=CreateAlias(collection_name=real, alias_name=name)))
        with trying(f"change the aliases {', '.join(aliases)}"):
            self._client.update_collection_aliases(change_aliases_operations=operations)

    def _require_free(self, name: str) -> None:
        """Raise where a collection or an alias has a name."""
        if self._client.collection_exists(name):
            raise InvalidInputError(f"there is a {name} already, of something else")

    def _find_path(self, name: str) -> Path:
        """Return the folder of a collection."""
        return self._path / "collection" / name

    def _open(self) -> QdrantClient:
        with needs_extra("qdrant-client", "stores"):
            from qdrant_client import QdrantClient
        if not self._meta.is_file():
            raise InvalidInputError(f"there is no Qdrant store in {self._path}")
        with trying(f"read {self._path} as a folder of Qdrant"):
            try:
                return QdrantClient(path=str(self._path))
            except RuntimeError:
                raise ArtifactError(f"{self._path} is open in another program, and local mode serves one") from None

    def _choose(self, name: str) -> str | None:
        """Return the name of the vector that is migrated, or raise where it can't be told; None where it has none."""
        params: Any = self._client.get_collection(name).config.params.vectors
        if not isinstance(params, dict):
            if self._vector is not None:
                raise InvalidInputError(f"vectors of {name} have no names, so none can be chosen, got {self._vector!r}")
            params = {UNNAMED: params}
        if not params:
            raise InvalidInputError(f"rows of {name} have no dense vectors, which alone can be migrated")
        chosen = choose_vectors(sorted(params), self._vector, name)
        if params[chosen].multivector_config is not None:
            raise InvalidInputError(
                f"rows of {name} have many vectors each in place of one (multivector_config), which can't be migrated"
            )
        return chosen or None


def _to_id(point: Any) -> Id:
    return point.id if isinstance(point.id, int) else str(point.id)


def _copy_file(source: str, target: str) -> None:
    shutil.copy2(source, target)
    # The original is deleted next.
    with Path(target).open("rb+") as file:
        os.fsync(file.fileno())
