"""A folder of Qdrant's local mode, opened; and what to make of errors of the library."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError, VecveilError

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


class LibraryErrors:
    """Within it, what Qdrant raises is raised by its kind and without its text, in which a row can stand.

    Args:
        problem: What could not be done.
    """

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise `ArtifactError` in place of an error that is not our own."""
        if kind is not None and issubclass(kind, Exception) and not issubclass(kind, VecveilError):
            raise ArtifactError(f"{self._problem} ({kind.__name__} in Qdrant)") from None


def open_folder(target: str) -> QdrantClient:
    """Return a client of the folder `target`, or raise unless there is a store that no one else has open."""
    try:
        from qdrant_client import QdrantClient
    except ImportError:
        raise MissingExtraError("qdrant-client", "qdrant") from None
    if "://" in target:
        # Not shown: an address may have a password in it.
        raise InvalidInputError("qdrant takes folders only (qdrant:FOLDER, Qdrant's local mode), got an address")
    if not (Path(target) / "meta.json").is_file():
        raise InvalidInputError(f"there is no Qdrant store in {target}")
    with LibraryErrors(f"{target} cannot be read as a Qdrant store"):
        try:
            return QdrantClient(path=target)
        except RuntimeError:
            raise ArtifactError(f"{target} is open in another program, and Qdrant's local mode serves one") from None
