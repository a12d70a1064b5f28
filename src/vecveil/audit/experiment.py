"""The experiment runner: cells computed once, kept, and resumed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

import numpy as np

from vecveil.core.atomic import atomic_file, create_folder, hold_lock, require_own
from vecveil.core.digests import json_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError

T = TypeVar("T")

PLAN, CELLS, CHECKPOINTS = "plan.json", "cells", "checkpoints"
LOCK, DRAFT = ".lock", ".draft"


@dataclass(frozen=True, kw_only=True)
class Cell(Generic[T]):
    """One measurement of an experiment.

    Attributes:
        key: What tells it from all others of the experiment, fit for JSON; its "name" is shown in errors.
        kind: Type of the result, which goes to JSON and comes back.
        compute: Takes a generator and a folder for checkpoints, and returns the result.
        seed: What its random numbers depend on, fit for JSON; its key where None.
    """

    key: Mapping[str, Any]
    kind: Any
    compute: Callable[[np.random.Generator, Path], T]
    seed: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Experiment:
    """A folder with the plan of an experiment, each finished cell, checkpoints of attacks, and results.

    Readable by its owner only: examples and checkpoints hold what was learned from private texts.

    Attributes:
        path: The folder.
    """

    path: Path

    def check(self, plan: Mapping[str, Any] | None = None) -> None:
        """Raise where no experiment can go into this folder, or not the one of `plan`. Nothing is made or changed."""
        above = next(path for path in (self.path, *self.path.absolute().parents) if path.exists())
        if not above.is_dir():
            raise InvalidInputError(f"{self.path} can't be a folder: {above} is a file")
        if not os.access(above, os.W_OK | os.X_OK):
            raise InvalidInputError(f"{self.path} can't be written to; choose another folder")
        if (self.path / PLAN).exists():
            if plan is not None:
                self._require_same(plan)
        elif above == self.path and not all(map(_is_leftover, self.path.iterdir())):
            raise InvalidInputError(f"{self.path} holds other things than an audit; choose another folder")

    @contextmanager
    def open(self, plan: Mapping[str, Any]) -> Iterator[None]:
        """Hold the folder for one run; refuse one that holds another plan, or that another process works in."""
        self.check()
        # The user may have named a link; what is inside the folder may be none.
        create_folder(self.path.resolve())
        with hold_lock(self.path / LOCK, busy=f"another process is at work in {self.path}"):
            self.check(plan)
            self._sweep()
            require_own(self.path / CELLS)
            require_own(self.path / CHECKPOINTS)
            if not (self.path / PLAN).exists():
                self._write(self.path / PLAN, json.dumps(plan, indent=2).encode())
            yield

    def run(self, cell: Cell[T]) -> T:
        """Return the result of a cell: what was computed before, or what is computed now and kept."""
        path = self.path / CELLS / f"{json_digest(cell.key)[:16]}.json"
        checkpoints = self.path / CHECKPOINTS / path.stem
        if path.exists():
            result: T = _decode(path, cell.kind)
        else:
            # Each cell has a generator of its own: what was computed yesterday does not move what is computed today.
            rng = np.random.default_rng(int(json_digest(cell.seed or cell.key)[:15], 16))
            result = cell.compute(rng, checkpoints)
            self._keep(path, cell, result)
        # Also where the cell was known, since a process can be killed between the two. An attack that was trained on
        # private texts is private, and large.
        shutil.rmtree(checkpoints, ignore_errors=True)
        with suppress(OSError):
            checkpoints.parent.rmdir()
        return result

    def write(self, name: str, value: object) -> None:
        """Write a result as JSON."""
        codec = _msgspec().json
        self._write(self.path / name, codec.format(codec.encode(value), indent=2))

    def read(self, name: str, kind: type[T]) -> T:
        """Return a result that was written."""
        path = self.path / name
        if not path.exists():
            hint = "the run in it is not finished" if (self.path / PLAN).exists() else "it is not an audit's folder"
            raise InvalidInputError(f"{self.path} has no {name}: {hint}")
        return _decode(path, kind)

    def _keep(self, path: Path, cell: Cell[T], result: T) -> None:
        msgspec = _msgspec()
        content = msgspec.json.encode(result)
        try:
            msgspec.json.decode(content, type=cell.kind)
        except msgspec.MsgspecError as error:
            # JSON has no infinite numbers; a cell that can't be read again would stop every later run.
            raise InvalidInputError(f"{cell.key['name']} gave a result that can't be kept: {error}") from None
        create_folder(path.parent)
        self._write(path, content)

    def _require_same(self, plan: Mapping[str, Any]) -> None:
        try:
            kept = json.loads((self.path / PLAN).read_text(encoding="utf-8"))
        except ValueError:
            raise ArtifactError(f"{self.path / PLAN} is not JSON; choose another folder") from None
        if not isinstance(kept, dict):
            raise ArtifactError(f"{self.path / PLAN} is not the plan of an audit; choose another folder")
        asked = json.loads(json.dumps(plan))
        different = [name for name in {**kept, **asked} if kept.get(name) != asked.get(name)]
        if different:
            name = different[0]
            raise InvalidInputError(
                f"{self.path} holds an audit of another plan: {name} {_short(kept.get(name))} there, "
                f"{_short(asked.get(name))} here; choose another folder"
            )

    def _sweep(self) -> None:
        """Delete what a killed process left half-written: no one else is at work here."""
        for folder in (self.path, self.path / CELLS):
            for draft in folder.glob(f".*{DRAFT}"):
                draft.unlink(missing_ok=True)

    def _write(self, path: Path, content: bytes) -> None:
        with atomic_file(path) as draft:
            draft.write_bytes(content)


def to_json(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what JSON would bring back, so that results that were read again are equal to those that were written."""
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def _is_leftover(path: Path) -> bool:
    """Return whether a file is what a run leaves that was killed before its plan was written."""
    return path.name == LOCK or (path.name.startswith(f".{PLAN}.") and path.name.endswith(DRAFT))


def _decode(path: Path, kind: type[T]) -> T:
    msgspec = _msgspec()
    try:
        decoded: T = msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.MsgspecError as error:
        raise ArtifactError(f"{path} does not hold what an audit writes there: {error}") from None
    return decoded


def _msgspec() -> ModuleType:
    try:
        import msgspec
    except ImportError:
        raise MissingExtraError("msgspec", "audit") from None
    return msgspec


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}…"
