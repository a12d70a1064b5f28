"""Charges, records and noise for ledgers, and ways to get at a ledger behind its back."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import reduce
from operator import add
from typing import Any

import psycopg

from support.postgres import run_sql
from vecveil.ledger import Charge, Ledger, new_run
from vecveil.ledger.postgres import WRITER_LOCK


def made_charge(*, run: str | None = None, cost: float = 1.0, noise: str = "fresh", epsilon: float = 8.0) -> Charge:
    """Return what a release costs."""
    return Charge(
        run=new_run() if run is None else run,
        kind="release",
        veil="a1" * 32,
        mechanism="mahalanobis",
        epsilon=epsilon,
        distance="Mahalanobis distance",
        cost=cost,
        noise=noise,
    )


def shape_charge() -> Charge:
    """Return what a shape costs: nobody knows."""
    return Charge(
        run=new_run(),
        kind="shape",
        veil="b2" * 32,
        mechanism="hard-concrete",
        epsilon=None,
        distance=None,
        cost=None,
        noise="none",
    )


def names(*numbers: int, kind: str = "record") -> list[bytes]:
    """Return 16 bytes for each number."""
    return [f"{kind[:6]:>6}{number:010}".encode() for number in numbers]


def fresh(count: int) -> list[bytes]:
    """Return tokens that no other release has."""
    return [bytes.fromhex(new_run()) for _ in range(count)]


def tamper(place: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements in the ledger's database, past the ledger, and return the rows of the last."""
    if place.startswith("postgresql://"):
        return run_sql(place, "SET search_path TO vecveil", *statements)
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        return [connection.execute(statement).fetchall() for statement in statements][-1]


def read_spent(ledger: Ledger, records: Sequence[bytes]) -> list[float]:
    """Return what each record has lost so far: once for each noise, by what the ledger exports."""
    costs: dict[bytes, dict[bytes, float]] = {record: {} for record in records}
    for entry in ledger.releases():
        noises = costs.get(entry.record, {})
        noises[entry.token] = max(noises.get(entry.token, 0.0), entry.charge.cost or 0.0)
    return [reduce(add, costs[record].values(), 0.0) for record in records]


@contextmanager
def held(place: str) -> Iterator[None]:
    """Keep every writer waiting while the block runs."""
    if place.startswith("postgresql://"):
        with psycopg.connect(place) as server:
            server.execute("SELECT pg_advisory_xact_lock(%s)", [WRITER_LOCK])
            yield
    else:
        with closing(sqlite3.connect(place, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield


def start_python(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a program in a process of its own; `support` can be imported in it."""
    paths = f"import sys; sys.path[:] = {sys.path!r}\n"
    command = [sys.executable, "-c", paths + program, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def outputs(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Wait for processes, and return what each printed; fail unless all ended well."""
    said = [process.communicate(timeout=120) for process in processes]
    assert [err for _, err in said] == [""] * len(said)
    return [out.strip() for out, _ in said]
