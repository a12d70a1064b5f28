"""A ledger in PostgreSQL, for processes on several machines. Imports psycopg."""

from __future__ import annotations

from dataclasses import dataclass, field

import psycopg

from vecveil.accounting.ledger.postgres_errors import plain_connecting
from vecveil.accounting.ledger.postgres_session import PostgresSession
from vecveil.accounting.ledger.postgres_url import parsed_url, shown_url

CONNECT_SECONDS = 10
"""How long to wait for a server, where the URL doesn't say."""


@dataclass(frozen=True, kw_only=True)
class PostgresDatabase:
    """A schema `vecveil` in the database that a URL names.

    Attributes:
        url: How to get there; may hold a password, so it is never shown.
    """

    url: str = field(repr=False)

    @property
    def where(self) -> str:
        """Host, port and database."""
        return shown_url(self.url)

    def connect(self, *, create: bool) -> PostgresSession:
        """Return a new session; the database itself must be there."""
        del create
        timeout = parsed_url(self.url).get("connect_timeout", CONNECT_SECONDS)
        with plain_connecting(self.where):
            connection = psycopg.connect(
                self.url,
                autocommit=True,
                connect_timeout=timeout,
                cursor_factory=psycopg.RawCursor,
                fallback_application_name="vecveil",
            )
        return PostgresSession(connection, self.where)
