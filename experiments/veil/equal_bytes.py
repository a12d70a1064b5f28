"""Releases of the same records in many circumstances: equal_bytes.py [--texts N] [--vectors N] [--embedder SPEC].

Each circumstance is a process of its own: threads, batch sizes, a cache, and processors, by leaving out instructions
that this one has. All release the same texts and vectors under the same key, on record in one ledger. A record must be
charged exactly as often as it left in different bytes. The shape is the hardest there is: rotated, uneven, with axes
that are not released.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from vecveil import Key
from vecveil.audit.defenses import make_veil
from vecveil.embedders import Embedder, SentenceTransformersEmbedder, resolve_embedder
from vecveil.ledger import open_ledger
from vecveil.samples.clinical import clinical_sentences
from vecveil.shapes import ContrastPairs, NoiseShape
from vecveil.veil import Veil
from vecveil.veil.embedding import embed_texts

RATIO, KEY = 0.7, Key(bytes(range(32)))

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
NO_AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
CIRCUMSTANCES: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "one thread": {"environment": ONE_THREAD},
    "batches of 1": {"batch": 1},
    "batches of 7, cached": {"batch": 7, "cache": True},
    "torch with AVX2": {"environment": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}},
    "torch without vector instructions": {
        "environment": {
            "ATEN_CPU_CAPABILITY": "default",
            "ONEDNN_MAX_CPU_ISA": "SSE41",
            "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        }
    },
    # What follows is no matter of the model: the vectors of the texts are those of the first circumstance.
    "NumPy without AVX-512": {"environment": {"NPY_DISABLE_CPU_FEATURES": NO_AVX512}, "embedded": True},
    "NumPy without AVX2": {
        "environment": {"NPY_DISABLE_CPU_FEATURES": f"{NO_AVX512} AVX2 FMA3 X86_V3"},
        "embedded": True,
    },
    "OpenBLAS for Haswell": {"environment": {"OPENBLAS_CORETYPE": "Haswell"}, "embedded": True},
    "OpenBLAS for Prescott": {"environment": {"OPENBLAS_CORETYPE": "Prescott"}, "embedded": True},
    "OpenSSL without AES instructions": {
        "environment": {"OPENSSL_ia32cap": "~0x200000200000000"},
        "embedded": True,
    },
}


def main(texts: int, vectors: int, embedder: str) -> None:
    """Print a table of circumstances, and stop with an error where a record is not charged as it should be."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        model = resolve_embedder(embedder)
        notes = [sentence.text for sentence in clinical_sentences(texts)]
        (folder / "texts.json").write_text(json.dumps(notes))
        clean = embed_texts(model, notes)
        np.save(folder / "clean.npy", clean)
        _hard_veil(clean.astype(np.float64), model).save(folder / "a.veil")
        rng = np.random.default_rng(0)
        mixed = rng.standard_normal((vectors, clean.shape[1]))
        np.save(folder / "vectors.npy", mixed / np.linalg.norm(mixed, axis=1, keepdims=True))
        print("| circumstance | texts: equal | other bytes | charged | vectors: equal | other bytes | charged |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        seen: list[set[bytes]] = [set() for _ in range(texts + vectors)]
        first, before = [], np.zeros(texts + vectors)
        for title, settings in CIRCUMSTANCES.items():
            rows = _release(folder, embedder, settings)
            first = first or rows
            for bytes_of, row in zip(seen, rows, strict=True):
                bytes_of.add(row)
            charges = _charges(folder, texts, vectors)
            equal = np.array([one == two for one, two in zip(first, rows, strict=True)])
            cells = [
                figure
                for part in (slice(0, texts), slice(texts, None))
                for figure in (equal[part].sum(), (~equal[part]).sum(), round((charges - before)[part].sum()))
            ]
            print(f"| {title} | {' | '.join(map(str, cells))} |", flush=True)
            before = charges
            wrong = np.flatnonzero(charges != [len(bytes_of) for bytes_of in seen])
            if wrong.size:
                sys.exit(f"{wrong.size} records are not charged for each of their releases, such as {wrong[0]}")


def release_once(folder: Path, embedder: str, *, batch: int = 0, cache: bool = False, embedded: bool = False) -> None:
    """Release everything on record, in the circumstances of this process, and leave it in the folder."""
    notes, vectors = json.loads((folder / "texts.json").read_text()), np.load(folder / "vectors.npy")
    with Veil.load(folder / "a.veil").release(
        key=KEY, noise_ratio=RATIO, ledger=folder / "ledger.sqlite", collection="t"
    ) as release:
        if embedded:
            parts = [release.protect_vectors(np.load(folder / "clean.npy"), ids=[*range(len(notes))])]
        else:
            model = _load_model(embedder, batch, folder / "cache" if cache else None)
            parts = [
                release.protect_texts([notes[row] for row in rows], model, ids=rows)
                for rows in _split(len(notes), batch)
            ]
        parts += [
            release.protect_vectors(vectors[rows], ids=[len(notes) + row for row in rows])
            for rows in _split(len(vectors), 16 * batch)
        ]
    np.save(folder / "released.npy", np.concatenate(parts))


def _load_model(spec: str, batch: int, cache: Path | None) -> Embedder:
    model = resolve_embedder(spec)
    if batch and isinstance(model, SentenceTransformersEmbedder):
        model = replace(model, batch_size=batch)
    return resolve_embedder(model, cache=cache)


def _split(rows: int, size: int) -> list[list[int]]:
    return [[*range(rows)[start : start + size]] for start in range(0, rows, size)] if size else [[*range(rows)]]


def _release(folder: Path, embedder: str, settings: dict[str, Any]) -> list[bytes]:
    given = {name: value for name, value in settings.items() if name != "environment"}
    environment = {**os.environ, **settings.get("environment", {})}
    command = [
        sys.executable,
        "-W",
        "ignore",
        __file__,
        "--once",
        str(folder),
        json.dumps(given),
        "--embedder",
        embedder,
    ]
    subprocess.run(command, env=environment, check=True)  # noqa: S603
    return [row.tobytes() for row in np.load(folder / "released.npy")]


def _charges(folder: Path, texts: int, vectors: int) -> np.ndarray:
    """Return how many releases each record was charged for."""
    cost = Veil.load(folder / "a.veil").release(noise_ratio=RATIO).mechanism.euclidean_loss()
    with open_ledger(folder / "ledger.sqlite") as ledger:
        names = ledger.digests([f"t\0s{number}".encode() for number in range(texts + vectors)])
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as database:
        spent = dict(database.execute("SELECT record, spent FROM balances"))
    return np.rint(np.array([spent[name] for name in names]) / cost)


def _hard_veil(clean: np.ndarray, model: Embedder) -> Veil:
    axes = np.linalg.svd(clean - clean.mean(axis=0), full_matrices=True)[2].T
    variances = np.linspace(0.5, 2.0, clean.shape[1])
    variances[: clean.shape[1] // 16] = np.inf
    shape = NoiseShape(variances=variances, axes=axes, center=clean.mean(axis=0))
    pairs = ContrastPairs(clean[:10].astype(np.float32), clean[10:20].astype(np.float32))
    return make_veil(shape, pairs, model.fingerprint)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=3000)
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        release_once(Path(asked.once[0]), asked.embedder, **json.loads(asked.once[1]))
    else:
        main(asked.texts, asked.vectors, asked.embedder)
