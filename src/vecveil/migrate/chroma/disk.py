"""Files of Chroma, and traces of deleted collections in them."""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.folders import remove_folder

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

DATABASE, COSINE = "chroma.sqlite3", "cosine"
LOCK_SECONDS = 10.0  # How long to wait until others let go of the database.
UUID = "-".join("[0-9a-f]" * digits for digits in (8, 4, 4, 4, 12))  # How the folders of indexes are called.

# How the header of an index begins: version, an offset, rows that fit in, rows that are in, bytes of a row.
HEADER, VERSION = struct.Struct("<i4Q"), 1


def find_folder(client: ClientAPI) -> Path | None:
    """Return the folder that a client keeps everything in; None where it is in memory, or a server's."""
    settings = client.get_settings()
    here = settings.is_persistent and not settings.chroma_server_host
    return Path(settings.persist_directory) if here else None


def require_cleanable(client: ClientAPI, folder: Path | None) -> None:
    """Raise where traces of deleted collections can't be reached, or another program holds on to the store."""
    if client.get_settings().chroma_server_host:
        raise InvalidInputError("what a server leaves on its disk can't be reached from here; open its folder there")
    if folder is not None:
        with _open_database(folder) as database:
            database.execute("BEGIN EXCLUSIVE")
            database.execute("ROLLBACK")


def clean_folder(client: ClientAPI, folder: Path) -> None:
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
