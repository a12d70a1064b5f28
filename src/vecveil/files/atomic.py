"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vecveil.core.errors import ArtifactError, InvalidInputError


@contextmanager
def atomic_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a sibling path to write to; it takes the place of `path` if the block ends well, and goes if not.

    Args:
        path: The file to make.
        private: Whether no one but its owner may read it, from the first byte on.
    """
    draft = _draft(path)
    try:
        if private:
            draft.touch(mode=0o600)
        yield draft
        _flush(draft)
        draft.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path, *, overwrite: bool = False, private: bool = False) -> Iterator[Path]:
    """Yield a sibling folder to fill; it takes the place of `path` if the block ends well, and goes if not.

    Args:
        path: The folder to make.
        overwrite: Whether one of that name may be replaced.
        private: Whether no one but its owner may read it.
    """
    if path.exists() and not overwrite:
        raise exists_already(path)
    draft = _draft(path)
    old = _draft(path)
    try:
        draft.mkdir(parents=True)
        yield draft
        for file in draft.rglob("*"):
            if file.is_file():
                _flush(file)
                if private:
                    file.chmod(0o600)
        if private:
            draft.chmod(0o700)
        if path.exists():
            path.rename(old)
        draft.rename(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(draft, ignore_errors=True)


def exists_already(path: Path) -> InvalidInputError:
    """Return the error for a name that is taken."""
    return InvalidInputError(f"{path} exists already; choose another name, or have it overwritten (--overwrite)")


def _draft(path: Path) -> Path:
    # In the same folder, since a rename across file systems is a copy, and a copy can stop half-way.
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.draft")


def _flush(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _cannot_write(path: Path, error: OSError) -> ArtifactError:
    return ArtifactError(f"{path} could not be written: {error.strerror or error}; nothing half-written is left")
