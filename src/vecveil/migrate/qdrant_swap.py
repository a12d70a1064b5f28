"""Names in Qdrant, which renames no collection: an alias is moved, and what has no alias is copied and gets one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.qdrant_copy import copy_collection, is_copy, is_part
from vecveil.migrate.qdrant_folder import LibraryErrors
from vecveil.migrate.qdrant_rows import all_ids

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

LONGEST = 255
"""Letters that the name of a collection may have."""


@dataclass(frozen=True, kw_only=True)
class QdrantSwap:
    """The names of one collection.

    Attributes:
        client: An open client.
        folder: Where it keeps its files.
        collection: What is migrated: a collection, or an alias of one.
        backup: What it is called after the swap.
    """

    client: QdrantClient
    folder: Path
    collection: str
    backup: str

    def require_possible(self) -> None:
        """Raise where aliases, or the length of a name, stand in the way."""
        aliases = self._aliases()
        real = aliases.get(self.collection, self.collection)
        others = self._leading_to(real, but=self.collection)
        if others and real != self.collection:
            raise InvalidInputError(
                f"{self.collection} is one of several aliases of {real}, and the others ({others}) would go on to lead "
                "to clean rows; delete those aliases, and make them anew after the swap"
            )
        if others:
            # They would go with the collection when it is deleted.
            raise InvalidInputError(f"{self.collection} has aliases ({others}): migrate by one of them, which is moved")
        if len(self.backup) > LONGEST:
            raise InvalidInputError(f"{self.backup} is too long for a name: Qdrant takes {LONGEST} letters")

    def halfway(self, shadow: str, made: str | None) -> bool:
        """Return whether the swap of this shadow was stopped: its copy is there, and the alias is not."""
        aliases = self._aliases()
        if self.collection in aliases or self.backup in aliases or not is_copy(self.client, self.backup, made):
            return False
        if not self.client.collection_exists(self.collection):
            return True
        if self.client.count(self.collection).count:
            return is_part(self.client, self.backup, self.collection)
        # A kill inside of Qdrant's own deletion leaves the name, with no rows; then the copy must be whole.
        return all_ids(self.client, self.backup) == all_ids(self.client, shadow)

    def swap(self, shadow: str, made: str | None) -> str:
        """Make the collection's name an alias of the shadow, go on where this was stopped, and return where it was.

        Args:
            shadow: Name of the shadow.
            made: Which shadow it is.
        """
        self.require_possible()
        halfway = self.halfway(shadow, made)
        if self.client.collection_exists(self.backup) and not halfway:
            raise InvalidInputError(f"there is a {self.backup} already, of something else")
        real = self._aliases().get(self.collection)
        if real is not None:
            self._lead({self.backup: real, self.collection: shadow})
            return real
        if self.client.collection_exists(self.collection) and (not halfway or self.client.count(self.collection).count):
            copy_collection(self.client, self.collection, self.backup, made)
        # A name can't be a collection's and an alias at once; for a moment it is neither.
        self._delete(self.collection)
        self._lead({self.collection: shadow})
        return self.backup

    def drop(self) -> None:
        """Delete the collection with the clean rows, whatever its name, and the alias."""
        aliases = self._aliases()
        real = aliases.get(self.backup, self.backup)
        if real == aliases.get(self.collection, self.collection):
            raise InvalidInputError(f"{self.backup} and {self.collection} are one collection, {real}; swap first")
        others = self._leading_to(real, but=self.backup)
        if others:
            raise InvalidInputError(f"{real} has other aliases ({others}), which would lead nowhere; delete them first")
        self._delete(real)

    def _delete(self, name: str) -> None:
        with LibraryErrors(f"{name} could not be deleted"):
            self.client.delete_collection(name)
        left = self.folder / "collection" / name
        if left.exists():
            # Qdrant says nothing of files that it can't delete.
            raise ArtifactError(f"{left} could not be deleted, and clean rows are in it; see who may write there")

    def _aliases(self) -> dict[str, str]:
        return {alias.alias_name: alias.collection_name for alias in self.client.get_aliases().aliases}

    def _leading_to(self, real: str, *, but: str) -> str:
        """Return the aliases of a collection, one excepted, in words."""
        return ", ".join(sorted(name for name, leads_to in self._aliases().items() if leads_to == real and name != but))

    def _lead(self, aliases: dict[str, str]) -> None:
        """Make aliases lead elsewhere, all at once."""
        from qdrant_client.models import CreateAlias, CreateAliasOperation, DeleteAlias, DeleteAliasOperation

        operations: list[CreateAliasOperation | DeleteAliasOperation] = []
        for name, real in aliases.items():
            operations.append(DeleteAliasOperation(delete_alias=DeleteAlias(alias_name=name)))
            operations.append(CreateAliasOperation(create_alias=CreateAlias(collection_name=real, alias_name=name)))
        with LibraryErrors(f"the aliases {', '.join(aliases)} could not be changed"):
            self.client.update_collection_aliases(change_aliases_operations=operations)
