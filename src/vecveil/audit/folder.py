"""The folder of an audit: what was computed stays, and only the same audit goes on with it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from filelock import FileLock, Timeout

from vecveil.artifacts.atomic import atomic_file
from vecveil.audit.results import AuditResult, Example
from vecveil.core.digests import json_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")

PLAN, RESULTS, EXAMPLES, CELLS, CHECKPOINTS = "plan.json", "results.json", "examples.json", "cells", "checkpoints"
LOCK, DRAFT = ".lock", ".draft"


@dataclass(frozen=True)
class AuditFolder:
    """Where an audit keeps its plan, each finished cell, the attacks' checkpoints and its results.

    Readable by its owner only: examples and checkpoints hold what was learned from private texts. `results.json`
    holds no text and may be shown.
    """

    path: Path

    def check(self, plan: Mapping[str, Any] | None = None) -> None:
        """Raise where an audit can't go into this folder, or not the one of `plan`. Nothing is made or changed."""
        above = next(path for path in (self.path, *self.path.absolute().parents) if path.exists())
        if not above.is_dir():
            raise InvalidInputError(f"{self.path} can't be a folder: {above} is a file")
        if not os.access(above, os.W_OK | os.X_OK):
            raise InvalidInputError(f"{self.path} can't be written to; choose another folder")
        if (self.path / PLAN).exists():
            if plan is not None:
                self._require_same(plan)
        elif above == self.path and not all(map(_is_trace, self.path.iterdir())):
            raise InvalidInputError(f"{self.path} holds other things than an audit; choose another folder")

    @contextmanager
    def opened(self, plan: Mapping[str, Any]) -> Iterator[None]:
        """Hold the folder for one audit; refuse one that holds another, or that another process works in."""
        self.check()
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(self.path / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise InvalidInputError(f"another audit is at work in {self.path}") from None
        try:
            self.check(plan)
            self._sweep()
            if not (self.path / PLAN).exists():
                self._write(self.path / PLAN, json.dumps(plan, indent=2).encode())
            yield
        finally:
            lock.release()

    def cell(self, key: Mapping[str, Any], kind: type[T]) -> T | None:
        """Return what was computed for `key`; None where nothing was."""
        path = self._cell(key)
        return _decode(path, kind) if path.exists() else None

    def keep(self, key: Mapping[str, Any], value: object, *, kind: Any = None) -> None:
        """Keep what was computed for `key`; `kind` is its type where its class does not say all of it."""
        msgspec = _msgspec()
        content = msgspec.json.encode(value)
        try:
            msgspec.json.decode(content, type=kind or type(value))
        except msgspec.MsgspecError as error:
            # JSON has no infinite numbers; a cell that can't be read again would stop every later run.
            raise InvalidInputError(f"{key['name']} gave a result that can't be kept: {error}") from None
        (self.path / CELLS).mkdir(exist_ok=True, mode=0o700)
        self._write(self._cell(key), content)

    def checkpoints(self, key: Mapping[str, Any]) -> Path:
        """Return the folder for the checkpoints of the attack that `key` names."""
        return self.path / CHECKPOINTS / json_digest(key)[:16]

    def forget_checkpoints(self, key: Mapping[str, Any]) -> None:
        """Delete the checkpoints of a finished cell: an attack trained on private texts is private, and large."""
        shutil.rmtree(self.checkpoints(key), ignore_errors=True)
        with suppress(OSError):
            (self.path / CHECKPOINTS).rmdir()

    def keep_result(self, result: AuditResult, examples: tuple[Example, ...]) -> None:
        """Write the results, and apart from them the texts."""
        json_codec = _msgspec().json
        self._write(self.path / EXAMPLES, json_codec.format(json_codec.encode(examples), indent=2))
        self._write(self.path / RESULTS, json_codec.format(json_codec.encode(result), indent=2))

    def keep_document(self, name: str, value: object) -> None:
        """Write something that is to be read by others, as JSON."""
        codec = _msgspec().json
        self._write(self.path / name, codec.format(codec.encode(value), indent=2))

    def result(self) -> AuditResult:
        """Return the results of a finished audit."""
        path = self.path / RESULTS
        if not path.exists():
            hint = "the audit in it is not finished" if (self.path / PLAN).exists() else "it is not an audit's folder"
            raise InvalidInputError(f"{self.path} has no {RESULTS}: {hint}")
        return _decode(path, AuditResult)

    def examples(self) -> tuple[Example, ...]:
        """Return the texts that were kept to be looked at, and what was read of them."""
        path = self.path / EXAMPLES
        return _decode(path, tuple[Example, ...]) if path.exists() else ()

    def _require_same(self, plan: Mapping[str, Any]) -> None:
        try:
            held = json.loads((self.path / PLAN).read_text(encoding="utf-8"))
        except ValueError:
            raise ArtifactError(f"{self.path / PLAN} is not JSON; choose another folder") from None
        if not isinstance(held, dict):
            raise ArtifactError(f"{self.path / PLAN} is not the plan of an audit; choose another folder")
        asked = json.loads(json.dumps(plan))
        different = [name for name in {**held, **asked} if held.get(name) != asked.get(name)]
        if different:
            name = different[0]
            raise InvalidInputError(
                f"{self.path} holds an audit of another plan: {name} {_short(held.get(name))} there, "
                f"{_short(asked.get(name))} here; choose another folder"
            )

    def _sweep(self) -> None:
        """Delete what a killed process left half-written: no one else is at work here."""
        for folder in (self.path, self.path / CELLS):
            for draft in folder.glob(f".*{DRAFT}"):
                draft.unlink(missing_ok=True)

    def _cell(self, key: Mapping[str, Any]) -> Path:
        return self.path / CELLS / f"{json_digest(key)[:16]}.json"

    def _write(self, path: Path, content: bytes) -> None:
        with atomic_file(path, private=True) as draft:
            draft.write_bytes(content)


def _is_trace(path: Path) -> bool:
    """Return whether a file is what an audit leaves that was killed before its plan was written."""
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
