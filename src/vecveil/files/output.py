"""Large outputs: written in parts, resumable, whole or absent."""

from __future__ import annotations

import glob
import json
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from vecveil.core.atomic import atomic_file, create_file, create_folder, exists_already, hold_lock, require_own
from vecveil.core.checks import one_of
from vecveil.core.errors import ArtifactError, InvalidInputError, VecveilError
from vecveil.files.sources import open_source
from vecveil.files.writers import ROW_GROUP, Writer, decode_categories, open_writer, require_parquet, write_arrow

ENDINGS = (".parquet", ".npy")
PARTS = "part-*.arrow"
LABEL = b"vecveil"

FOLDER_LABEL = "_vecveil.json"
"""The label's file in a folder that an engine wrote; readers of Parquet pass over it."""

"""Key of the label in the metadata of a file."""


class ResumableOutput:
    """An output in the making: parts in a folder beside it, each written whole, and the output behind them.

    A row counts as released once its part is written. A run that goes on after a kill starts behind the last whole
    part, and begins the output anew with the parts that are there: no row gets noise twice, and none is lost. Work that
    is soon done again needs no parts; a run of it that was killed has released nothing.

    Attributes:
        rows: Rows that are written, those of an earlier run among them.
        run: Name of the run.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.with_name(f"{path.name}.parts")
        self._finishing = self._folder / "finishing"
        self._draft = self._folder / f"whole{path.suffix}"
        self._label_path = path.with_name(f"{path.name}.json")
        self._parts = 0
        self._foreign = False
        self._begun = False
        self._schema: Any = None
        self._label: Mapping[str, Any] = {}
        self._in_parts = True
        self._writer: Writer | None = None
        self.rows = 0
        self.run = secrets.token_hex(16)

    @classmethod
    def require_free(cls, path: Path, *, overwrite: bool) -> None:
        """Raise if an output can't be written there: a first look, before anything that takes time."""
        one_of(path.suffix, ENDINGS, "ending of an output")
        if not path.parent.is_dir():
            raise InvalidInputError(f"there is no folder {path.parent} to write {path.name} to")
        if path.is_dir():
            raise InvalidInputError(f"{path} is a folder; name a file to write")
        cls(path)._require_free(overwrite=overwrite)

    @classmethod
    @contextmanager
    def open(cls, path: Path, job: Mapping[str, Any], *, overwrite: bool = False) -> Iterator[ResumableOutput]:
        """Yield the output, with the parts of an earlier run of the same job if there are some.

        Args:
            path: The file to write, Parquet or `.npy`.
            job: What makes two runs the same: input, veil, budget. Kept beside the parts.
            overwrite: Whether a finished output of that name may be replaced.
        """
        cls.require_free(path, overwrite=overwrite)
        output = cls(path)
        create_folder(output._folder)
        busy = f"another process is writing the same output (its parts are in {output._folder})"
        with hold_lock(output._folder / "lock", busy=busy):
            for cleared in path.parent.glob(f".{glob.escape(path.name)}.*.cleared"):
                shutil.rmtree(cleared, ignore_errors=True)
            try:
                # Again, now that no one else can finish it: another run may have done so since the first look.
                output._require_free(overwrite=overwrite)
                with output._naming_kept_parts():
                    output._resume(job)
                yield output
            finally:
                if output._writer is not None:
                    with suppress(Exception):
                        output._writer.close()
                # A run that failed before its first row leaves nothing behind, unless a ledger may know its name.
                if not output._foreign and not output._begun and not any(output._folder.glob("part-*")):
                    output._clear()

    def begin(self) -> None:
        """Keep the name of this run from now on, even if it fails before its first part: a ledger may know it."""
        self._begun = True

    def describe(self, schema: Any, label: Mapping[str, Any], *, in_parts: bool = True) -> None:
        """Set, before the first batch, the schema and the label of the output.

        Args:
            schema: Arrow schema of all batches.
            label: How the output was made.
            in_parts: Whether to keep parts to go on from; those of an earlier run are used in any case.
        """
        self._label, self._in_parts = label, in_parts
        if not in_parts:
            # No ledger knows the name of a run that keeps nothing.
            self._begun = False
        metadata = {LABEL: json.dumps(label, ensure_ascii=False).encode()}
        self._schema = decode_categories(schema).with_metadata(metadata)
        if self._path.suffix == ".parquet":
            require_parquet(self._schema)

    def append(self, batch: Any) -> None:
        """Write one Arrow record batch, as the next part first where there are parts."""
        plain = batch.cast(decode_categories(batch.schema))
        with self._naming_kept_parts():
            writer = self._open_writer()
            with self._naming_the_output():
                if self._in_parts:
                    with atomic_file(self._part(self._parts)) as draft:
                        write_arrow(draft, plain)
                    self._parts += 1
                writer.write(plain)
            self.rows += batch.num_rows

    def finish(self, notes: Mapping[str, str] | None = None) -> None:
        """Put the output in its place, with its label, and remove the parts.

        Args:
            notes: What is known of the output only now: in the label beside `.npy`, in the metadata of Parquet.
        """
        notes = notes or {}
        with self._naming_kept_parts():
            with self._naming_the_output():
                self._open_writer().close(notes)
            self._writer = None
            if not self._finishing.exists():
                create_file(self._finishing)
            with ExitStack() as drafts:
                if self._path.suffix == ".npy":
                    # Entered first, so it takes its place last: a label never stands beside an output that failed.
                    beside = drafts.enter_context(atomic_file(self._label_path))
                    label = json.dumps({**self._label, **notes}, indent=2, ensure_ascii=False)
                    beside.write_text(label + "\n", encoding="utf-8")
                self._draft.replace(drafts.enter_context(atomic_file(self._path)))
        self._begun = False
        self._clear()

    def _require_free(self, *, overwrite: bool) -> None:
        # A run that was killed between putting the output in its place and clearing up has made what stands there. Its
        # parts make the same again; without parts it would be another one, and that is for the user to ask for.
        if overwrite or (self._finishing.exists() and any(self._folder.glob(PARTS))):
            return
        for path in (self._path, *([self._label_path] if self._path.suffix == ".npy" else [])):
            if path.exists():
                raise exists_already(path)

    def _resume(self, job: Mapping[str, Any]) -> None:
        try:
            for found in self._folder.iterdir():
                require_own(found)
        except VecveilError:
            self._foreign = True
            raise
        # Only what a killed run of ours left: the folder might turn out to be someone else's.
        for draft in (*self._folder.glob(".job.json.*.draft"), *self._folder.glob(".part-*.draft")):
            draft.unlink()
        record = self._folder / "job.json"
        parts = sorted(self._folder.glob(PARTS))
        if not record.exists() and set(self._folder.iterdir()) - {self._folder / "lock"}:
            self._foreign = True
            raise InvalidInputError(f"{self._folder} is needed for the parts of the output, but holds something else")
        if record.exists():
            try:
                self.run = _require_same_job(record, job)
                self._begun = True
            except VecveilError:
                # Another job that has not come to a part is replaced.
                if parts:
                    raise
        if parts != [self._part(index) for index in range(len(parts))]:
            raise ArtifactError(f"{self._folder} misses a part; delete the folder to start anew")
        if not parts:
            with atomic_file(record) as draft:
                draft.write_text(json.dumps({**job, "run": self.run}, indent=2), encoding="utf-8")
        self._parts, self.rows = len(parts), sum(open_source(part).rows for part in parts)

    def _clear(self) -> None:
        if not self._folder.exists():
            return
        # In one step: parts that go one by one, in a run that is killed, would look like those of one that is not done.
        cleared = self._path.with_name(f".{self._path.name}.{secrets.token_hex(6)}.cleared")
        self._folder.rename(cleared)
        shutil.rmtree(cleared, ignore_errors=True)

    def _open_writer(self) -> Writer:
        """Return the writer of the output; it begins with the parts of earlier runs."""
        if self._writer is None:
            with self._naming_the_output():
                self._draft.unlink(missing_ok=True)
                create_file(self._draft)
                self._writer = open_writer(self._draft, self._schema)
                for index in range(self._parts):
                    for batch in open_source(self._part(index)).batches(ROW_GROUP):
                        self._writer.write(batch)
        return self._writer

    @contextmanager
    def _naming_the_output(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ArtifactError(f"{self._path} could not be written: {error.strerror or error}") from error

    @contextmanager
    def _naming_kept_parts(self) -> Iterator[None]:
        try:
            yield
        except ArtifactError as error:
            parts = any(self._folder.glob(PARTS))
            kept = f"; finished parts are kept in {self._folder}, to go on from" if parts else ""
            raise ArtifactError(f"{error}{kept}") from error

    def _part(self, index: int) -> Path:
        return self._folder / f"part-{index:08d}.arrow"


def read_label(path: Path) -> Any:
    """Return what a finished output says of how it was made; None where it says nothing."""
    if path.is_dir() or path.suffix == ".npy":
        beside = path / FOLDER_LABEL if path.is_dir() else path.with_name(f"{path.name}.json")
        found = {LABEL: beside.read_bytes()} if beside.is_file() else {}
    elif path.suffix == ".parquet":
        import pyarrow.parquet as pq

        found = pq.read_metadata(path).metadata or {}
    else:
        found = open_source(path).schema.metadata or {}
    try:
        label = json.loads(found.get(LABEL, b"null"))
    except ValueError:
        return None
    if isinstance(label, dict) and path.suffix == ".parquet":
        label |= {key.decode(): value.decode() for key, value in found.items() if key.decode().startswith("ledger_")}
    return label


def _require_same_job(record: Path, job: Mapping[str, Any]) -> str:
    """Return the name of the run that wrote `record`, or raise, with what differs, unless it was asked to do `job`."""
    try:
        earlier = json.loads(record.read_text(encoding="utf-8"))
    except ValueError:
        earlier = None
    if not isinstance(earlier, dict) or not isinstance(run := earlier.pop("run", None), str):
        raise ArtifactError(f"{record} is damaged; delete {record.parent} to start anew")
    differing = [key for key in {**earlier, **job} if earlier.get(key) != job.get(key)]
    if differing:
        raise InvalidInputError(
            f"{record.parent} holds the parts of an unfinished run that differs in {', '.join(sorted(differing))}; "
            "finish that run with its own options, or delete the folder to start anew"
        )
    return run
