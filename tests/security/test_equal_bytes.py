"""Two releases of one record under one key are equal in every byte, or charged as two."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.guards import named_guard
from support.ledgers import read_spent
from support.veils import made_veil
from vecveil.core.errors import EmbedderMismatchError
from vecveil.core.key import Key
from vecveil.embedders import SentenceTransformersEmbedder, resolve_embedder
from vecveil.ledger import open_ledger
from vecveil.veil import Guard, protect_file

KEY = Key(bytes(range(32)))
ROOT = Path(__file__).parents[2]
TEXTS = [f"note {number}: " + "a word " * (number % 19) + "and an end" for number in range(120)]
IDS = [f"n{number}" for number in range(120)]


@pytest.fixture
def guard(tmp_path: Path, model_folder: Path) -> Guard:
    return named_guard(tmp_path, model_folder, ledger=str(tmp_path / "ledger.sqlite"))


def _with_model(guard: Guard, batch: int, cache: Path | None = None) -> Guard:
    folder = str(guard.opened_veil.provenance.embedder)
    return Guard(
        guard.opened_veil,
        key=guard.key,
        ledger=guard.ledger,
        embedder=resolve_embedder(SentenceTransformersEmbedder(folder, batch_size=batch), cache=cache),
    )


def _by_library(guard: Guard, place: Path) -> Sequence[Sequence[float]]:
    released = guard.opened_veil.protect(TEXTS, key=guard.key, ids=IDS, ledger=guard.ledger)
    return np.asarray(released).tolist()


def _by_guard(guard: Guard, place: Path) -> Sequence[Sequence[float]]:
    return guard.protect_texts(TEXTS, ids=IDS).tolist()


def _one_by_one(guard: Guard, place: Path) -> Sequence[Sequence[float]]:
    return [guard.protect_texts([text], ids=[one])[0].tolist() for text, one in zip(TEXTS, IDS, strict=True)]


def _in_small_batches(guard: Guard, place: Path) -> Sequence[Sequence[float]]:
    return _with_model(guard, 3).protect_texts(TEXTS[::-1], ids=IDS[::-1]).tolist()[::-1]


def _from_a_cache(guard: Guard, place: Path) -> Sequence[Sequence[float]]:
    cached = _with_model(guard, 16, place / "cache")
    cached.protect_texts(TEXTS[:50], ids=IDS[:50])
    return cached.protect_texts(TEXTS, ids=IDS).tolist()


def _as_vectors(guard: Guard, place: Path) -> Sequence[Sequence[float]]:
    return guard.protect_vectors(guard.model.embed(TEXTS), ids=IDS).tolist()


def _by_file(guard: Guard, place: Path) -> Sequence[Sequence[float]]:
    pq.write_table(pa.table({"text": TEXTS, "id": IDS}), place / "in.parquet")
    protect_file(
        guard.opened_veil,
        place / "in.parquet",
        place / "out.parquet",
        key=guard.key,
        ledger=guard.ledger,
        id_column="id",
        batch_rows=17,
    )
    rows: list[list[float]] = pq.read_table(place / "out.parquet")["vector"].to_pylist()
    return rows


def _by_threads(guard: Guard, place: Path) -> Sequence[Sequence[float]]:
    def protect(start: int) -> Any:
        return guard.protect_texts(TEXTS[start : start + 10], ids=IDS[start : start + 10])

    with ThreadPoolExecutor(4) as threads:
        return np.concatenate([*threads.map(protect, range(0, len(TEXTS), 10))]).tolist()


WAYS = [_by_library, _by_guard, _one_by_one, _in_small_batches, _from_a_cache, _as_vectors, _by_file, _by_threads]


def test_a_record_is_charged_once_for_each_of_its_releases_whichever_way_it_goes(guard: Guard, tmp_path: Path) -> None:
    released: list[set[bytes]] = [set() for _ in IDS]
    for way in WAYS:
        for seen, row in zip(released, way(guard, tmp_path), strict=True):
            seen.add(np.array(row, dtype=np.float32).tobytes())
    _require_charged(guard, released)


def _require_charged(guard: Guard, released: Sequence[set[bytes]]) -> None:
    """Raise unless each record was charged as often as it left in different bytes, which is seldom more than once."""
    with open_ledger(str(guard.ledger)) as ledger:
        spent = np.array(read_spent(ledger, ledger.digests([f"\0s{one}".encode() for one in IDS])))
    charges = spent / guard.release.mechanism.euclidean_loss()
    assert np.rint(charges).tolist() == [len(seen) for seen in released]
    # The rule is that all ways agree; a coordinate at the border of a step is the exception.
    assert np.mean(charges) < 1.1


def test_a_record_is_charged_once_for_each_of_its_releases_on_whichever_processor(model_folder: Path) -> None:
    """Processes with other threads, batches and instructions; the script fails where a charge is not a release."""
    script = ROOT / "experiments" / "veil" / "equal_bytes.py"
    options = ["--texts", "150", "--vectors", "3000", "--embedder", str(model_folder)]
    done = subprocess.run(
        [sys.executable, script, *options], capture_output=True, text=True, check=False, timeout=500, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| (.+?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", done.stdout, re.MULTILINE)
    assert len(rows) == 11
    assert [*map(int, rows[0][1:])] == [150, 0, 150, 3000, 0, 3000]
    for _, equal, other, charged, *vectors in rows[1:]:
        assert int(equal) + int(other) == 150
        assert int(charged) <= int(other) <= 15
        assert int(vectors[2]) <= int(vectors[1]) <= 3


def test_a_record_is_charged_once_for_each_of_its_releases_by_another_backend(
    model_folder: Path, tmp_path: Path
) -> None:
    model = SentenceTransformersEmbedder(str(model_folder), backend="openvino")
    ledger = str(tmp_path / "ledger.sqlite")
    veil = made_veil(epsilon=2000.0, dimensions=16, fingerprint=model.fingerprint)
    released: list[set[bytes]] = [set() for _ in IDS]
    for batch, cache in ((1, None), (7, None), (64, tmp_path / "cache"), (16, tmp_path / "cache")):
        embedder = resolve_embedder(replace(model, batch_size=batch), cache=cache)
        guard = Guard(veil, key=KEY, ledger=ledger, embedder=embedder)
        for seen, row in zip(released, guard.protect_texts(TEXTS, ids=IDS), strict=True):
            seen.add(row.tobytes())
    _require_charged(guard, released)


def test_another_backend_is_another_model(guard: Guard, model_folder: Path) -> None:
    with pytest.raises(EmbedderMismatchError, match="by openvino"):
        guard.opened_veil.protect(TEXTS, embedder=f"openvino:{model_folder}", key=guard.key)
