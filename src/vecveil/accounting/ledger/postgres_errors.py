"""What PostgreSQL complains of, in words that a user can act on. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from vecveil.core.errors import ArtifactError

# Only what is known by name is repeated: in other messages a part of a mistyped URL can be quoted, and so a password.
_CONNECTING = {
    "password authentication failed": "it does not accept user and password",
    "no password supplied": "it asks for a password",
    "no pg_hba.conf entry": "it does not let this user in from here",
    "does not exist": "it has no such user or database",
    "Connection refused": "nothing listens there",
    "No such file or directory": "nothing listens there",
    "translate host name": "there is no such host",
    "resolve host": "there is no such host",
    "timeout": "it does not answer",
    "the database system is starting up": "it is starting; try again",
    "too many": "it has no connection left",
}

_WORKING: dict[type[psycopg.Error], str] = {
    errors.LockNotAvailable: "another process has held it for too long; try again",
    errors.InsufficientPrivilege: "this user may not do that there",
    errors.ReadOnlySqlTransaction: "it may not be written",
    errors.DiskFull: "its disk is full",
    errors.UndefinedTable: "a table is missing",
    errors.DataCorrupted: "it is damaged",
    errors.IndexCorrupted: "it is damaged",
}


@contextmanager
def plain_connecting(where: str) -> Iterator[None]:
    """Turn a failed connection into an error that names the place and shows no password."""
    try:
        yield
    except psycopg.Error as error:
        said = str(error)
        reason = next((words for sign, words in _CONNECTING.items() if sign in said), "it cannot be reached")
        raise ArtifactError(f"the ledger {where} cannot be opened: {reason}") from None


@contextmanager
def plain_errors(where: str) -> Iterator[None]:
    """Turn errors of PostgreSQL into one of ours that names the ledger."""
    try:
        yield
    except psycopg.Error as error:
        name = type(error).__name__
        reason = next((words for kind, words in _WORKING.items() if isinstance(error, kind)), None)
        if reason is None and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            reason = "the connection broke; repeat what you did, which records nothing twice"
        raise ArtifactError(f"the ledger {where} cannot be used: {reason or 'PostgreSQL failed'} ({name})") from None
