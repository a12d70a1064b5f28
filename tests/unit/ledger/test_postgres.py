"""Addresses of PostgreSQL, and errors where no server answers; what needs a server is in `integration`."""

from __future__ import annotations

import pytest

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.ledger import open_ledger


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:hunter2@127.0.0.1:9/db",
        "postgresql://user:hunter2@no-such-host.invalid/db",
        "postgresql://user@127.0.0.1:9/db?password=hunter2",
        "postgresql://user@127.0.0.1:9?password=hunter2",
        # Unescaped signs: what follows them is taken for a host, a port or a database.
        "postgresql://user:@hunter2@127.0.0.1:9/db",
        "postgresql://user:9/hunter2@127.0.0.1:9/db",
        "postgresql://user:/hunter2@127.0.0.1:9/db",
        "postgresql://user:?hunter2@127.0.0.1:9/db",
        "postgresql://user:#hunter2@127.0.0.1:9/db",
        "postgresql://user:%hunter2@127.0.0.1:9/db",
        "postgresql://127.0.0.1:9?password=@hunter2",
        "postgresql://127.0.0.1:hunter2/db",
    ],
)
def test_no_error_shows_a_password(url: str) -> None:
    with pytest.raises((ArtifactError, InvalidInputError)) as refusal:
        open_ledger(url)
    assert "hunter2" not in str(refusal.value)
    assert refusal.value.__suppress_context__
