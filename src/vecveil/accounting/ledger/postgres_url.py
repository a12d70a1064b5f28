"""Where a PostgreSQL URL leads, without what must not be shown. Imports psycopg."""

from __future__ import annotations

import re
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from vecveil.core.errors import InvalidInputError

HIDDEN = "postgresql://…"
"""What is shown of a URL that a part of the password may have strayed into."""

_PLAIN = {"user": r"[\w.-]*", "host": r"[\w.,:/-]*", "port": r"[\d,]*", "dbname": r"[\w.-]*"}


def parsed_url(url: str) -> dict[str, Any]:
    """Return the parts of a URL, or raise without showing any of them."""
    try:
        return dict(conninfo_to_dict(url))
    except psycopg.Error:
        # The original message quotes the URL.
        raise InvalidInputError(
            "the URL of the ledger cannot be read (it is not shown, since it may hold a password); in a password, "
            "signs such as @ : / ? # % are written as %40 %3A %2F %3F %23 %25"
        ) from None


def shown_url(url: str) -> str:
    """Return host, port and database of a URL.

    A password with an unescaped sign is read as a host, a port or a database, in part. So all is hidden as soon as an @
    stands where it should not, or a part has a sign that it should not have.
    """
    parts = {name: str(parsed_url(url).get(name) or "") for name in _PLAIN}
    plain = all(re.fullmatch(_PLAIN[name], part) for name, part in parts.items())
    if not plain or not re.fullmatch(r"\w+://([^@/?#]*@)?[^@]*", url):
        return HIDDEN
    port = f":{parts['port']}" if parts["port"] else ""
    return f"postgresql://{parts['host']}{port}/{parts['dbname']}"
