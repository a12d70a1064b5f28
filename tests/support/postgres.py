"""A real PostgreSQL server for the tests, in a folder of its own, gone when they end."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

USER = "tester"
PATIENCE_SECONDS = 60.0
INITDB = ("--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale", "--no-sync")
SERVER = ("-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60")


@dataclass(frozen=True, kw_only=True)
class PostgresServer:
    """A running server.

    Attributes:
        socket: Folder of its Unix socket; it listens nowhere else.
        password: What it asks for.
    """

    socket: Path
    password: str

    def url(self, database: str = "postgres", *, password: str | None = None) -> str:
        """Return the URL of a database."""
        secret = quote(self.password if password is None else password, safe="")
        return f"postgresql://{USER}:{secret}@/{database}?host={quote(str(self.socket), safe='')}"

    def without_ledger(self) -> str:
        """Return the URL of a database that has no ledger any more; a database for each test would fill the disk."""
        run_sql(self.url(), "DROP SCHEMA IF EXISTS vecveil CASCADE")
        return self.url()


def run_sql(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements behind the ledger's back, and return the rows of the last."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursors = [connection.execute(statement) for statement in statements]
        return cursors[-1].fetchall() if cursors[-1].description else []


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Yield a server that runs while the block does."""
    programs = _programs()
    # Not below pytest's folder, which the user that the server runs as could not enter.
    folder = Path(tempfile.mkdtemp(prefix="vecveil-postgres-"))
    server = PostgresServer(socket=folder, password=secrets.token_urlsafe(12))
    (folder / "password").write_text(server.password, encoding="ascii")
    account = _account()
    if account:
        for path in (folder, folder / "password"):
            shutil.chown(path, **account)
    options: dict[str, Any] = {**account, "cwd": folder, "stdout": subprocess.DEVNULL}
    try:
        made = subprocess.run(
            [programs / "initdb", "-D", folder / "data", "-U", USER, "--pwfile", folder / "password", *INITDB],
            **options,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert made.returncode == 0, f"initdb failed: {made.stderr}"
        with (folder / "log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data", "-k", folder, *SERVER],
                **options,
                stderr=log,
            )
        try:
            _wait_for(server, process, folder / "log")
            yield server
        finally:
            # What PostgreSQL calls an immediate shutdown: nothing needs to reach the disk any more.
            process.send_signal(signal.SIGQUIT)
            process.wait(PATIENCE_SECONDS)
    finally:
        shutil.rmtree(folder)


def _programs() -> Path:
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    # Debian keeps them off the path, a folder for each version.
    found = list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    assert found, "the tests of the ledger need PostgreSQL; install it (on Debian: apt-get install postgresql)"
    return max(found, key=lambda program: float(program.parts[-3])).parent


def _account() -> dict[str, Any]:
    """Return the account to run the server under: PostgreSQL refuses to run as root."""
    return {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}


def _wait_for(server: PostgresServer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        assert process.poll() is None, f"PostgreSQL did not start: {log.read_text(encoding='utf-8')}"
        assert time.monotonic() < deadline, "PostgreSQL did not answer in time"
        try:
            run_sql(server.url(), "SELECT 1")
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
