"""A large output that is written part by part, goes on after a stop, and appears only when it is whole."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.artifacts.atomic import atomic_file
from vecveil.artifacts.sources import open_source
from vecveil.artifacts.vectors import VECTOR, vectors_of
from vecveil.core.checks import one_of
from vecveil.core.errors import ArtifactError, InvalidInputError

ENDINGS = (".parquet", ".npy")


class ResumableOutput:
    """Parts in a folder beside the output, each written whole; joined into the output at the end.

    A row counts as released once its part is written, so a run that goes on after a kill neither noises a row twice
    nor loses one: it starts behind the last whole part.
    """

    def __init__(self, path: Path, folder: Path, *, rows: int, parts: int) -> None:
        self._path, self._folder = path, folder
        self.rows, self._parts = rows, parts

    @classmethod
    @contextmanager
    def open(cls, path: Path, job: Mapping[str, Any], *, overwrite: bool = False) -> Iterator[ResumableOutput]:
        """Yield the output, with the parts of an earlier run of the same job if there are some.

        Args:
            path: The file to write, Parquet or `.npy`.
            job: What makes two runs the same: input, veil, budget. Kept beside the parts.
            overwrite: Whether a finished output of that name may be replaced.
        """
        one_of(path.suffix, ENDINGS, "ending of an output")
        if path.exists() and not overwrite:
            raise InvalidInputError(f"{path} exists already; choose another name or ask for it to be overwritten")
        if not path.parent.is_dir():
            raise InvalidInputError(f"there is no folder {path.parent} to write {path.name} to")
        folder = path.with_name(f"{path.name}.parts")
        try:
            folder.mkdir(exist_ok=True)
            with (folder / "lock").open("w") as lock:
                _lock(lock, folder)
                output = cls._resume(path, folder, job)
                try:
                    yield output
                finally:
                    # A run that failed before its first row leaves nothing behind.
                    if output.rows == 0:
                        shutil.rmtree(folder, ignore_errors=True)
        except OSError as error:
            raise ArtifactError(
                f"{path} could not be written: {error.strerror or error}; what was finished is kept in {folder}"
            ) from error

    @classmethod
    def _resume(cls, path: Path, folder: Path, job: Mapping[str, Any]) -> ResumableOutput:
        record = folder / "job.json"
        if record.exists():
            _require_same_job(json.loads(record.read_text(encoding="utf-8")), job, folder)
        else:
            with atomic_file(record) as draft:
                draft.write_text(json.dumps(job, indent=2), encoding="utf-8")
        for draft in folder.glob(".*.draft"):
            draft.unlink()
        parts = sorted(folder.glob(f"part-*{path.suffix}"))
        return cls(path, folder, rows=sum(open_source(part).rows for part in parts), parts=len(parts))

    def append(self, batch: Any) -> None:
        """Write one Arrow record batch as the next part."""
        with atomic_file(self._part(self._parts)) as draft:
            self._write(draft, [batch], batch.schema, batch.num_rows)
        self._parts += 1
        self.rows += batch.num_rows

    def finish(self, schema: Any, label: Mapping[str, Any]) -> None:
        """Join the parts into the output, with `label` telling how it was made, and remove them."""
        import pyarrow as pa

        labelled = schema.with_metadata({b"vecveil": json.dumps(label).encode()})
        parts = (batch for index in range(self._parts) for batch in open_source(self._part(index)).batches(1 << 16))
        batches = (pa.RecordBatch.from_arrays(batch.columns, schema=labelled) for batch in parts)
        if self._path.suffix == ".npy":
            with atomic_file(self._path.with_name(f"{self._path.name}.json")) as draft:
                draft.write_text(json.dumps(label, indent=2) + "\n", encoding="utf-8")
        with atomic_file(self._path) as draft:
            self._write(draft, batches, labelled, self.rows)
        shutil.rmtree(self._folder)

    def _part(self, index: int) -> Path:
        return self._folder / f"part-{index:08d}{self._path.suffix}"

    def _write(self, draft: Path, batches: Any, schema: Any, rows: int) -> None:
        if self._path.suffix == ".npy":
            _write_npy(draft, batches, schema.field(VECTOR).type, rows)
            return
        import pyarrow.parquet as pq

        with pq.ParquetWriter(draft, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)


def _write_npy(draft: Path, batches: Any, kind: Any, rows: int) -> None:
    # Plain writes, not a memory map: a full disk must be an error that can be caught, not a signal that kills.
    number = np.dtype(kind.value_type.to_pandas_dtype())
    header = {"descr": number.str, "fortran_order": False, "shape": (rows, kind.list_size)}
    with draft.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for batch in batches:
            stream.write(np.ascontiguousarray(vectors_of(batch.column(VECTOR)), dtype=number).data)


def _lock(stream: Any, folder: Path) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InvalidInputError(f"another process is writing the same output (its parts are in {folder})") from None


def _require_same_job(found: Mapping[str, Any], job: Mapping[str, Any], folder: Path) -> None:
    differing = [key for key in {**found, **job} if found.get(key) != job.get(key)]
    if differing:
        raise InvalidInputError(
            f"{folder} holds the parts of an unfinished run that differs in {', '.join(sorted(differing))}; "
            "finish that run with its own options, or delete the folder to start anew"
        )
