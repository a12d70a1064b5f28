"""A large output that is written part by part, goes on after a stop, and appears only when it is whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from vecveil.artifacts.atomic import atomic_file, exists_already
from vecveil.artifacts.parquet_types import plain_batch, plain_schema, require_parquet
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

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.with_name(f"{path.name}.parts")
        self._label_path = path.with_name(f"{path.name}.json")
        self._parts = 0
        self._foreign = False
        self.rows = 0

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
        if not path.parent.is_dir():
            raise InvalidInputError(f"there is no folder {path.parent} to write {path.name} to")
        output = cls(path)
        output._require_free(overwrite=overwrite)
        try:
            output._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise ArtifactError(f"{output._folder} could not be made: {error.strerror or error}") from error
        with output._alone():
            try:
                # Again, now that no one else can finish it: another run may have done so since the first look.
                output._require_free(overwrite=overwrite)
                with output._keeping_parts():
                    output._resume(job)
                yield output
            finally:
                # A run that failed before its first row leaves nothing behind.
                if not output._foreign and not any(output._folder.glob("part-*")):
                    shutil.rmtree(output._folder, ignore_errors=True)

    def _require_free(self, *, overwrite: bool) -> None:
        for path in (self._path, *([self._label_path] if self._path.suffix == ".npy" else [])):
            if path.exists() and not overwrite:
                raise exists_already(path)

    def _resume(self, job: Mapping[str, Any]) -> None:
        for draft in self._folder.glob(".*.draft"):
            draft.unlink()
        record = self._folder / "job.json"
        parts = sorted(self._folder.glob(f"part-*{self._path.suffix}"))
        if not record.exists() and set(self._folder.iterdir()) - {self._folder / "lock"}:
            self._foreign = True
            raise InvalidInputError(f"{self._folder} is needed for the parts of the output, but holds something else")
        if parts:
            _require_same_job(record, job, self._folder)
        if parts != [self._part(index) for index in range(len(parts))]:
            raise ArtifactError(f"{self._folder} misses a part; delete the folder to start anew")
        if not parts:
            with atomic_file(record) as draft:
                draft.write_text(json.dumps(job, indent=2), encoding="utf-8")
        self._parts, self.rows = len(parts), sum(open_source(part).rows for part in parts)

    def append(self, batch: Any) -> None:
        """Write one Arrow record batch as the next part."""
        plain = plain_batch(batch)
        if self._path.suffix == ".parquet" and self._parts == 0:
            require_parquet(plain.schema)
        with self._keeping_parts(), atomic_file(self._part(self._parts)) as draft:
            self._write(draft, [plain], plain.schema, plain.num_rows)
        self._parts += 1
        self.rows += batch.num_rows

    def finish(self, schema: Any, label: Mapping[str, Any]) -> None:
        """Join the parts into the output, with `label` telling how it was made, and remove them."""
        import pyarrow as pa

        labelled = plain_schema(schema).with_metadata({b"vecveil": json.dumps(label, ensure_ascii=False).encode()})
        parts = (batch for index in range(self._parts) for batch in open_source(self._part(index)).batches(1 << 16))
        batches = (pa.RecordBatch.from_arrays(batch.columns, schema=labelled) for batch in parts)
        with self._keeping_parts(), ExitStack() as drafts:
            if self._path.suffix == ".npy":
                # Entered first, so it takes its place last: a label never stands beside an output that failed.
                beside = drafts.enter_context(atomic_file(self._label_path))
                beside.write_text(json.dumps(label, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            self._write(drafts.enter_context(atomic_file(self._path)), batches, labelled, self.rows)
        shutil.rmtree(self._folder)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the folder for this process, or raise at once if another holds it."""
        try:
            with FileLock(self._folder / "lock", timeout=0):
                yield
        except Timeout:
            message = f"another process is writing the same output (its parts are in {self._folder})"
            raise InvalidInputError(message) from None

    @contextmanager
    def _keeping_parts(self) -> Iterator[None]:
        try:
            yield
        except ArtifactError as error:
            kept = f"; finished parts are kept in {self._folder}, to go on from" if self._parts else ""
            raise ArtifactError(f"{error}{kept}") from error

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
    size = 0
    for batch in batches:
        group.append(batch)
        size += batch.num_rows
        if size >= rows:
            yield group
            group, size = [], 0
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


def _read_job(record: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ArtifactError(f"{record} is damaged; delete {record.parent} to start anew")
    return found


def _require_same_job(record: Path, job: Mapping[str, Any], folder: Path) -> None:
    found = _read_job(record)
    differing = [key for key in {**found, **job} if found.get(key) != job.get(key)]
    if differing:
        raise InvalidInputError(
            f"{folder} holds the parts of an unfinished run that differs in {', '.join(sorted(differing))}; "
            "finish that run with its own options, or delete the folder to start anew"
        )
