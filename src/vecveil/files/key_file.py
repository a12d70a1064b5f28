"""Key files: made once, readable by their owner alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from vecveil.core.atomic import atomic_file, create_file
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.key import KEY_BYTES, Key

HEADER = "vecveil-key-1"


def write_key(key: Key, path: Path) -> None:
    """Write a key to a new file that no one but its owner may read; one of that name is never replaced.

    A key that is lost can't be had again, and all that was protected with it would have to be released anew.
    """
    try:
        create_file(path)
    except FileExistsError:
        raise InvalidInputError(f"{path} exists already; a key is never replaced, so choose another name") from None
    except OSError as error:
        raise ArtifactError(f"{path} could not be written: {error.strerror or error}") from error
    try:
        # The name is ours now, so what takes its place is no other key.
        with atomic_file(path) as draft:
            draft.write_text(f"{HEADER}\n{key.secret.hex()}\n", encoding="ascii")
    except ArtifactError:
        path.unlink(missing_ok=True)
        raise


def read_key(path: Path) -> Key:
    """Return the key in `path`, or raise where others could read it too."""
    if not path.is_file():
        raise InvalidInputError(f"there is no key file {path}; make one with: vecveil key new {path}")
    try:
        with path.open("rb") as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            content = stream.read(1024)
    except OSError as error:
        raise ArtifactError(f"{path} could not be read: {error.strerror or error}") from error
    lines = content.decode("ascii", errors="replace").split()
    if len(lines) != 2 or lines[0] != HEADER:
        raise ArtifactError(f"{path} is no key file of vecveil, or a newer one than this version reads")
    if os.name == "posix" and mode & 0o077:
        raise InvalidInputError(f"the key file {path} can be read by others (mode {mode:o}); run: chmod 600 {path}")
    try:
        return Key(bytes.fromhex(lines[1]))
    except ValueError:
        # What was found must not be shown: it may be most of a key.
        raise ArtifactError(f"{path} is damaged: a key has {2 * KEY_BYTES} hexadecimal digits") from None
