"""A large output that is written part by part, goes on after a stop, and appears only when it is whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from vecveil.artifacts.atomic import atomic_file
from vecveil.artifacts.sources import open_source
from vecveil.artifacts.vectors import VECTOR, vectors_of
from vecveil.core.checks import one_of
from vecveil.core.errors import ArtifactError, InvalidInputError

ENDINGS = (".parquet", ".npy")

ROW_GROUP = 16_384
"""Rows of a Parquet row group: many small parts would make a file that is slow to read."""


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
        except OSError as error:
            raise ArtifactError(f"{folder} could not be made: {error.strerror or error}") from error
        with _alone(folder):
            output = cls._resume(path, folder, job)
            try:
                yield output
            finally:
                # A run that failed before its first row leaves nothing behind.
                if output.rows == 0:
                    shutil.rmtree(folder, ignore_errors=True)

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
        with self._keeping_parts(), atomic_file(self._part(self._parts)) as draft:
            self._write(draft, [batch], batch.schema, batch.num_rows)
        self._parts += 1
        self.rows += batch.num_rows

    def finish(self, schema: Any, label: Mapping[str, Any]) -> None:
        """Join the parts into the output, with `label` telling how it was made, and remove them."""
        import pyarrow as pa

        labelled = schema.with_metadata({b"vecveil": json.dumps(label).encode()})
        parts = (batch for index in range(self._parts) for batch in open_source(self._part(index)).batches(1 << 16))
        batches = (pa.RecordBatch.from_arrays(batch.columns, schema=labelled) for batch in parts)
        with self._keeping_parts():
            if self._path.suffix == ".npy":
                with atomic_file(self._path.with_name(f"{self._path.name}.json")) as draft:
                    draft.write_text(json.dumps(label, indent=2) + "\n", encoding="utf-8")
            with atomic_file(self._path) as draft:
                self._write(draft, batches, labelled, self.rows)
        shutil.rmtree(self._folder)

    @contextmanager
    def _keeping_parts(self) -> Iterator[None]:
        try:
            yield
        except ArtifactError as error:
            raise ArtifactError(f"{error}; finished parts are kept in {self._folder}, to go on from") from error

    def _part(self, index: int) -> Path:
        return self._folder / f"part-{index:08d}{self._path.suffix}"

    def _write(self, draft: Path, batches: Iterable[Any], schema: Any, rows: int) -> None:
        if self._path.suffix == ".npy":
            _write_npy(draft, batches, schema.field(VECTOR).type, rows)
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetWriter(draft, schema, compression="zstd") as writer:
            for group in _grouped(batches, ROW_GROUP):
                writer.write_table(pa.Table.from_batches(group, schema=schema))


def _grouped(batches: Iterable[Any], rows: int) -> Iterator[list[Any]]:
    group: list[Any] = []
    for batch in batches:
        group.append(batch)
        if sum(part.num_rows for part in group) >= rows:
            yield group
            group = []
    if group:
        yield group


def _write_npy(draft: Path, batches: Iterable[Any], kind: Any, rows: int) -> None:
    # Plain writes, not a memory map: a full disk must be an error that can be caught, not a signal that kills.
    number = np.dtype(kind.value_type.to_pandas_dtype())
    header = {"descr": number.str, "fortran_order": False, "shape": (rows, kind.list_size)}
    with draft.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for batch in batches:
            stream.write(np.ascontiguousarray(vectors_of(batch.column(VECTOR)), dtype=number).data)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder for this process, or raise at once if another holds it."""
    try:
        with FileLock(folder / "lock", timeout=0):
            yield
    except Timeout:
        raise InvalidInputError(f"another process is writing the same output (its parts are in {folder})") from None


def _require_same_job(found: Mapping[str, Any], job: Mapping[str, Any], folder: Path) -> None:
    differing = [key for key in {**found, **job} if found.get(key) != job.get(key)]
    if differing:
        raise InvalidInputError(
            f"{folder} holds the parts of an unfinished run that differs in {', '.join(sorted(differing))}; "
            "finish that run with its own options, or delete the folder to start anew"
        )
