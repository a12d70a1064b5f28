"""Commands that are killed at random moments and repeated: nothing is lost, doubled or told."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, chdir, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from redteam.campaign import Campaign, is_full
from support.corpora import CITIES, ILLNESSES, toy_texts, write_toy_place
from support.embedding_server import EmbeddingServer
from support.forked_commands import Command, CommandServer, Ending, running_commands
from support.gateways import MODEL, gateway_veil, running_gateway
from support.ledgers import read_spent
from support.pgvector import running_pgvector
from support.postgres import PostgresServer, run_sql
from support.stores import PLACES, PgvectorPlace, Place, make_place, vectors_in
from support.veils import PRIVATE_WORD, made_veil, unit_vectors, with_words
from vecveil.concepts import terms
from vecveil.core.key import Key
from vecveil.files.key_file import write_key
from vecveil.files.vectors import to_vector_column
from vecveil.ledger import open_ledger
from vecveil.veil import Guard, Veil

ROWS = 160
KILLS_IN_A_ROW = 4 if is_full() else 1
"""Kills of one command before it is let to its end."""

STORES = [*PLACES, "pgvector"]
LIBRARIES = {
    "chroma": "chromadb",
    "qdrant": "qdrant_client",
    "lancedb": "lancedb",
    "faiss": "faiss",
    "pgvector": "psycopg",
}
LEDGERS = ("sqlite", "postgres")


@dataclass(kw_only=True)
class Work:
    """What is killed: commands in a folder, with a ledger.

    Attributes:
        folder: Where they run.
        ledger: Path or URL of the ledger.
        server: What runs them.
        tried: The campaign.
        rng: When they are killed.
        whole: How long a command takes, as far as is known.
    """

    folder: Path
    ledger: str
    server: CommandServer
    tried: Campaign
    rng: random.Random
    loaded: Sequence[str] = ()
    whole: dict[str, float] = field(default_factory=dict)
    left: int = KILLS_IN_A_ROW

    def run(self, *arguments: object) -> Ending:
        """Run a command, killed and repeated some times, to its end."""
        name, killed = str(arguments[0]), False
        while True:
            whole = self.whole.get(name, 0.5)
            kill = self.left > 0 and self.tried.counts["cases"] < self.tried.wanted
            ended = self.server.run(
                Command(
                    arguments=[*map(str, arguments)],
                    folder=str(self.folder),
                    environment={"VECVEIL_LEDGER": self.ledger, "XDG_DATA_HOME": f"{self.folder}.data"},
                    loaded=self.loaded,
                    kill_after=self.rng.uniform(0, whole) if kill else None,
                )
            )
            _require_quiet(ended.out + ended.err)
            if ended.killed:
                killed = True
                self.left -= 1
                self.tried.counts["cases"] += 1
                self.tried.counts[f"killed with {_kind_of(self.ledger)}"] += 1
                continue
            # Killed after its output was in place, it has nothing left to do.
            assert ended.code == 0 or (killed and "exists already" in ended.err), ended.err
            self.whole[name] = max(whole, ended.seconds) if name in self.whole else ended.seconds
            self.tried.counts["ran to the end"] += 1
            return ended


def _kind_of(ledger: str) -> str:
    return "PostgreSQL" if ledger.startswith("postgresql:") else "SQLite"


def _require_quiet(said: str) -> None:
    assert not [word for word in (PRIVATE_WORD, *ILLNESSES, *CITIES) if word in said], said[-500:]
    assert "Traceback" not in said, said[-1500:]


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with running_pgvector() as server:
        yield server


@pytest.fixture(scope="module")
def server() -> Iterator[CommandServer]:
    modules = ("vecveil.veil.guard", "vecveil.migrate", "vecveil.audit", "vecveil.cli.learn", "vecveil.cli.audit")
    with running_commands(*modules, "vecveil.cli.protect", "vecveil.cli.migrate", "psycopg") as opened:
        yield opened


@pytest.fixture
def works(tmp_path: Path, server: CommandServer, postgres: PostgresServer) -> Callable[[Campaign, int], Work]:
    """Make works: each in an empty folder, with an empty ledger in either database in turn."""
    whole: dict[str, float] = {}

    def make(tried: Campaign, number: int) -> Work:
        # A new one each time: clients of stores remember theirs by its path.
        folder = tmp_path / f"work-{number}"
        folder.mkdir()
        where = {"sqlite": str(folder / "ledger.sqlite"), "postgres": postgres.url()}
        run_sql(postgres.url(), "DROP SCHEMA IF EXISTS vecveil CASCADE")
        for (table,) in run_sql(postgres.url(), "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
            run_sql(postgres.url(), f'DROP TABLE "{table}" CASCADE')
        return Work(
            folder=folder,
            ledger=where[LEDGERS[number % len(LEDGERS)]],
            server=server,
            tried=tried,
            rng=tried.rng(number),
            whole=whole,
        )

    return make


Open = Callable[[str], AbstractContextManager[Campaign]]
Works = Callable[[Campaign, int], Work]


def _repeat(open_campaign: Open, kind: str, works: Works, check: Callable[[Work, int], None]) -> None:
    with open_campaign(f"kills: {kind}") as tried:
        for number in tried.numbers():
            before = tried.counts["cases"]
            with tried.case(number) as said:
                work = works(tried, number)
                said.append(_kind_of(work.ledger))
                with chdir(work.folder):
                    check(work, number)
            # A command that is never caught in time must not be tried for ever.
            assert tried.counts["cases"] > before or number < 3 * tried.wanted or tried.only is not None


def test_protect(campaign: Open, works: Works) -> None:
    _repeat(campaign, "protect", works, _kill_protect)


def _kill_protect(work: Work, number: int) -> None:
    """Protect vectors, or texts without their private words, with fresh or with keyed noise."""
    keyed, texts = number // 2 % 2 == 1, number // 4 % 2 == 1
    ids = [f"note {row:03}" for row in range(ROWS)]
    write_key(Key.new(), work.folder / "a.key")
    column = {"vector": to_vector_column(unit_vectors(ROWS))}
    options: list[object] = ["--id-column", "id", "--batch-rows", 7, *(["--key", "a.key"] if keyed else [])]
    if texts:
        write_toy_place(work.folder, texts=ROWS)
        table = pa.table({"id": ids, "text": toy_texts(ROWS)})
        pq.write_table(table, work.folder / "in.parquet")
        options += ["--embedder", "precomputed:known.parquet@words", "--epsilon", 20]
    else:
        made_veil(epsilon=20.0).save(work.folder / "a.veil")
        pq.write_table(pa.table({"id": ids, "note": [PRIVATE_WORD] * ROWS, **column}), work.folder / "in.parquet")
        options += ["--concept", "concept.toml"]
        (work.folder / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\n')
    work.run("protect", "a.veil", "in.parquet", "out.parquet", *options)
    table = pq.read_table(work.folder / "out.parquet")
    assert table["id"].to_pylist() == ids
    assert sorted(table.column_names) == ["id", "vector"]
    assert not (work.folder / "out.parquet.parts").exists()
    label = json.loads(table.schema.metadata[b"vecveil"])
    with open_ledger(work.ledger, create=False) as ledger:
        (run,) = ledger.runs()
        assert (run.charge.run, run.releases, run.records) == (label["run"], ROWS, ROWS)
        spent = read_spent(ledger, ledger.digests([b"\0s" + one.encode() for one in ids]))
        assert spent == pytest.approx([run.charge.cost] * ROWS)
    _require_sound_ledger(work, "--output", "out.parquet")


def _require_sound_ledger(work: Work, *options: object) -> None:
    work.left = 0
    work.run("ledger", "check", "--ledger", work.ledger, *options)


def test_learn(campaign: Open, works: Works) -> None:
    _repeat(campaign, "learn", works, _kill_learn)


def _kill_learn(work: Work, number: int) -> None:
    """Learn a veil: it is there whole or not at all, and no learning that left one is missing in the ledger."""
    write_toy_place(work.folder, texts=ROWS)
    options = ("--embedder", "precomputed:known.parquet@words", "--shape", "difference", "--noise-ratio", 1)
    for attempt in range(2):
        work.run("learn", "concept.toml", "notes.txt", "--out", f"{attempt}.veil", *options)
        Veil.load(work.folder / f"{attempt}.veil").guarantee()
    with open_ledger(work.ledger, create=False) as ledger:
        veils = [run.charge.veil for run in ledger.runs()]
        assert {Veil.load(work.folder / f"{attempt}.veil").digest() for attempt in range(2)} <= {*veils}
    for path in work.folder.rglob(".*.draft*"):
        assert not path.stat().st_mode & 0o077
    _require_sound_ledger(work)


def test_audit(campaign: Open, works: Works) -> None:
    _repeat(campaign, "audit", works, _kill_audit)


PLAN = ("--task", "neighbors,queries=50", "--blanks", 0, "--baseline", "none", "--defense", "veil", "--noise-ratio", 1)


def _kill_audit(work: Work, number: int) -> None:
    """Audit: what was killed goes on, and comes to the results of one that was not."""
    write_toy_place(work.folder, texts=ROWS)
    audit = ("audit", "a.veil", "notes.txt", "--concept", "concept.toml", *PLAN, "--attack", "nearest")
    options = ("--examples", 0, "--embedder", "precomputed:known.parquet@words")
    work.run(*audit, *options, "--out", "killed")
    work.left = 0
    work.run(*audit, *options, "--out", "whole")
    killed, whole = (_without_times(work.folder / name / "results.json") for name in ("killed", "whole"))
    assert killed == whole


def _without_times(path: Path) -> Any:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if key not in {"seconds", "finished"}}
        return [plain(each) for each in value] if isinstance(value, list) else value

    return plain(json.loads(path.read_text()))


def test_migrate(campaign: Open, works: Works, postgres: PostgresServer) -> None:
    def check(work: Work, number: int) -> None:
        name = STORES[number % len(STORES)]
        store = PgvectorPlace(where=postgres.url()) if name == "pgvector" else make_place(name, work.folder)
        work.loaded = [LIBRARIES.get(name, name)]
        _kill_migrate(work, store, name)
        work.tried.counts[name] += 1

    _repeat(campaign, "migrate", works, check)


def _kill_migrate(work: Work, store: Place, name: str) -> None:
    """Migrate a collection into its shadow and swap the two: every row is there once, and paid for once."""
    made_veil(epsilon=2000.0).save(work.folder / "a.veil")
    write_key(Key.new(), work.folder / "a.key")
    store.fill("notes", unit_vectors(ROWS))
    before = store.rows("notes")
    assert before is not None
    command = ("migrate", store.where, "notes", "a.veil", "--key", "a.key")
    work.left = math.ceil(KILLS_IN_A_ROW / 2)
    work.run(*command, "--batch-rows", 9)
    assert store.rows("notes") == before
    guard = Guard(work.folder / "a.veil", key=work.folder / "a.key", ledger="none")
    _require_rows(store.rows("notes-vecveil"), before, guard)
    work.left = math.ceil(KILLS_IN_A_ROW / 2)
    work.run(*command, "--swap")
    assert store.rows("notes-before-vecveil") == before
    _require_rows(store.rows("notes"), before, guard)
    with open_ledger(work.ledger, create=False) as ledger:
        totals = ledger.totals()
        assert totals.records == ROWS
        assert totals.highest == pytest.approx(guard.release.mechanism.euclidean_loss())
    work.loaded = []
    _require_sound_ledger(work)


def _require_rows(found: Any, before: Any, guard: Guard) -> None:
    """Raise unless rows are those of before, each once, with the guard's vectors and without texts."""
    assert found is not None
    assert sorted(found) == sorted(before)
    assert PRIVATE_WORD not in str([found[one][1:] for one in found])
    expected = guard.protect_vectors(vectors_in(before), ids=list(before)).astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors_in({one: found[one] for one in before}), expected, atol=1e-6)


def test_gateway(campaign: Open, works: Works) -> None:
    _repeat(campaign, "gateway", works, _kill_gateway)


def _kill_gateway(work: Work, number: int) -> None:
    """Serve, and be killed while clients ask: whatever was answered is on record, and comes again byte for byte."""
    veil = with_words(Veil.load(gateway_veil(work.folder / "plain.veil")), terms(PRIVATE_WORD))
    veil.save(work.folder / "a.veil")
    write_key(Key.new(), work.folder / "a.key")
    texts = [f"note {row} on {PRIVATE_WORD}" for row in range(ROWS)]
    answered: dict[str, set[str]] = {}
    environment = {"VECVEIL_LEDGER": work.ledger, "XDG_DATA_HOME": f"{work.folder}.data"}
    with EmbeddingServer().running() as upstream:
        options = (work.folder / "a.veil", "--upstream", upstream.base_url, "--key", work.folder / "a.key")
        for _ in range(KILLS_IN_A_ROW):
            if work.tried.counts["cases"] >= work.tried.wanted:
                break
            with running_gateway(*options, environment=environment) as (address, process):
                asking = [Thread(target=_ask_until_gone, args=(address, texts[part::3], answered)) for part in range(3)]
                for thread in asking:
                    thread.start()
                time.sleep(work.rng.uniform(0, 0.3))
                process.kill()
                for thread in asking:
                    thread.join()
                _require_quiet(process.communicate()[1])
            work.tried.counts["cases"] += 1
            work.tried.counts[f"killed with {_kind_of(work.ledger)}"] += 1
        with running_gateway(*options, environment=environment) as (address, process):
            _ask_until_gone(address, texts, answered)
            process.terminate()
            _require_quiet(process.communicate()[1])
    assert sorted(answered) == sorted(texts)
    assert {len(vectors) for vectors in answered.values()} == {1}, "a text came back with other bytes"
    with open_ledger(work.ledger, create=False) as ledger:
        totals = ledger.totals()
        assert totals.records == ROWS
        assert totals.highest == pytest.approx(ledger.runs()[0].charge.cost)
    work.tried.counts["ran to the end"] += 1
    _require_sound_ledger(work)


def _ask_until_gone(address: str, texts: Sequence[str], answered: dict[str, set[str]]) -> None:
    """Ask for texts, a few at a time, and note what comes back; the gateway may go away meanwhile."""
    with httpx.Client(base_url=address, timeout=30) as client, suppress(httpx.TransportError):
        for start in range(0, len(texts), 4):
            asked = texts[start : start + 4]
            body = {"input": asked, "model": MODEL, "encoding_format": "base64"}
            answer = client.post("/v1/embeddings", json=body)
            assert answer.status_code == httpx.codes.OK, answer.text
            for text, entry in zip(asked, answer.json()["data"], strict=True):
                answered.setdefault(text, set()).add(entry["embedding"])
