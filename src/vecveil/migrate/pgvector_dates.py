"""Dates and times of PostgreSQL that Python has no value for, such as infinity. Imports psycopg."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

KINDS = ("date", "time", "timetz", "timestamp", "timestamptz", "interval")


class _AnyDate(Loader):
    """Reads what Python can hold as psycopg does, and the rest as PostgreSQL writes it."""

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        usual = psycopg.adapters.get_loader(oid, Format.TEXT)
        self._usual = None if usual is None else usual(oid, context)

    def load(self, data: Buffer) -> Any:
        if self._usual is not None:
            try:
                return self._usual.load(data)
            except (psycopg.DataError, NotImplementedError):
                # Beyond Python's years, or written in a style that psycopg does not read.
                pass
        return bytes(data).decode()


def read_any_date(connection: psycopg.Connection[Any]) -> None:
    """Let a connection read any date, time or interval, also in lists and ranges."""
    for kind in KINDS:
        connection.adapters.register_loader(kind, _AnyDate)
