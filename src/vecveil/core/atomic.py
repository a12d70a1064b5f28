"""Private files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vecveil.core.errors import ArtifactError, InvalidInputError

# Both are missing where there are no such things.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_find_user = getattr(os, "geteuid", None)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a sibling path to write to; it takes the place of `path` if the block ends well, and goes if not.

    No one but its owner may read the file, from the first byte on. A link in its place is replaced, not followed.
    """
    draft = _draft(path)
    try:
        create_file(draft)
        yield draft
        _flush(draft)
        draft.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a sibling folder to fill; it takes the place of `path` if the block ends well, and goes if not.

    No one but its owner may look into it, from the start.

    Args:
        path: The folder to make.
        overwrite: Whether one of that name may be replaced.
    """
    if path.exists() and not overwrite:
        raise exists_already(path)
    draft = _draft(path)
    old = _draft(path)
    try:
        draft.mkdir(mode=0o700, parents=True)
        yield draft
        for file in draft.rglob("*"):
            file.chmod(0o700 if file.is_dir() else 0o600)
            _flush_folder(file) if file.is_dir() else _flush(file)
        _flush_folder(draft)
        if path.exists():
            path.rename(old)
        draft.rename(path)
        _flush_folder(path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        if old.is_symlink():
            old.unlink()
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(draft, ignore_errors=True)


def create_file(path: Path) -> None:
    """Create an empty file that no one but its owner may read, whatever the umask; a name that is taken is an error."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o600))


def create_folder(path: Path) -> None:
    """Create a folder for its owner alone; one that is there is closed to others, and must be ours and no link."""
    try:
        try:
            path.mkdir(mode=0o700, parents=True)
        except FileExistsError:
            require_own(path)
            if not path.is_dir():
                raise
            path.chmod(0o700)
    except OSError as error:
        raise ArtifactError(f"{path} could not be made: {error.strerror or error}") from error


def require_own(path: Path) -> None:
    """Raise if a link is there, a file with a second name, or another user's: someone may have put it there for us."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(status.st_mode):
        raise InvalidInputError(f"{path} is a link, and is not followed; delete it, or choose another name")
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        raise InvalidInputError(f"{path} has a second name (a hard link); delete it, or choose another name")
    if _find_user is not None and status.st_uid != _find_user():
        raise InvalidInputError(f"{path} belongs to another user (number {status.st_uid}); choose another name")


@contextmanager
def hold_lock(path: Path, *, busy: str) -> Iterator[None]:
    """Hold a lock file while the block runs, or raise `busy` at once where another process holds it."""
    from filelock import FileLock, Timeout

    require_own(path)
    lock = FileLock(path, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        raise InvalidInputError(busy) from None
    try:
        yield
    finally:
        lock.release()


def exists_already(path: Path) -> InvalidInputError:
    """Return the error for a name that is taken."""
    return InvalidInputError(f"{path} exists already; choose another name, or have it overwritten (--overwrite)")


def _draft(path: Path) -> Path:
    # In the same folder, since a rename across file systems is a copy, and a copy can stop half-way.
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.draft")


def _flush(path: Path) -> None:
    # Windows flushes only what could be written to.
    descriptor = os.open(path, (os.O_RDWR if os.name == "nt" else os.O_RDONLY) | _NO_FOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(path: Path) -> None:
    """Make the names in a folder last: without this, a power cut may undo a rename."""
    # Not every file system can, and the rename is done by now.
    if os.name == "posix":
        with suppress(OSError):
            _flush(path.resolve())


def _cannot_write(path: Path, error: OSError) -> ArtifactError:
    return ArtifactError(f"{path} could not be written: {error.strerror or error}; nothing half-written is left")
