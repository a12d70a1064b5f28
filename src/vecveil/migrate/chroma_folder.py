"""What Chroma leaves of a deleted collection: its index in a folder, texts and vectors in free pages of a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.folders import remove_folder

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

DATABASE = "chroma.sqlite3"
"""The file that tells a folder of Chroma's."""

PATIENCE = 10.0
"""Seconds to wait for others to let go of the database."""


def folder_of_client(client: ClientAPI) -> Path | None:
    """Return the folder that a client keeps everything in; None where it is in memory, or a server's."""
    settings = client.get_settings()
    here = settings.is_persistent and not settings.chroma_server_host
    return Path(settings.persist_directory) if here else None


def require_cleanable(client: ClientAPI) -> None:
    """Raise where what is deleted would leave something that can't be reached, or that another program holds on to."""
    folder = folder_of_client(client)
    if client.get_settings().chroma_server_host:
        raise InvalidInputError("what a server leaves on its disk can't be reached from here; open its folder there")
    if folder is not None:
        with _opened(folder) as database:
            database.execute("BEGIN EXCLUSIVE")
            database.execute("ROLLBACK")


def clean(folder: Path) -> None:
    """Remove what deleted collections have left; collections that there are stay as they are."""
    with _opened(folder) as database:
        # The index of words keeps those of deleted texts until it is made anew.
        database.execute("INSERT INTO embedding_fulltext_search (embedding_fulltext_search) VALUES ('rebuild')")
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        known = {name for (name,) in database.execute("SELECT id FROM segments")}
    for path in folder.iterdir():
        if path.is_dir() and _is_uuid(path.name) and path.name not in known:
            remove_folder(path)


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / DATABASE
    try:
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as database:
            yield database
    except sqlite3.Error as error:
        raise ArtifactError(
            f"{path} can't be cleaned ({type(error).__name__}); stop whatever has the store open, and repeat this"
        ) from None


def _is_uuid(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
