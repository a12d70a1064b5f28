"""Names of index files: the shadow takes the collection's, by one rename, and the old file gets a second one before."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_IMODE

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.faiss_note import note_of


def is_halfway(here: Path, backup: Path) -> bool:
    """Return whether a swap was stopped after the clean file at `here` had got its second name."""
    return here.exists() and backup.exists() and here.samefile(backup)


def require_swappable(here: Path, shadow: Path, backup: Path) -> None:
    """Raise where clean vectors would stay behind under a name that no one knows of, or a note has no name."""
    _require_no_other_name(here, known=2 if is_halfway(here, backup) else 1)
    for index in (here, shadow):
        note_of(index).require_free()


def swap_files(here: Path, shadow: Path, backup: Path) -> None:
    """Give the name of `here` to the shadow, and the backup's to what it named; go on where this was stopped."""
    note = note_of(shadow).read()
    if note is None:
        raise ArtifactError(f"{note_of(shadow).path} is damaged; delete the shadow to start anew")
    try:
        # A second name for the old file, then the new one over the first: at no moment is there no file of that name.
        if not is_halfway(here, backup):
            os.link(here, backup)
        shadow.chmod(S_IMODE(here.stat().st_mode))
        note_of(here).write(note)
        shadow.replace(here)
    except OSError as error:
        raise ArtifactError(f"{here} could not be swapped: {error.strerror or type(error).__name__}") from None
    note_of(shadow).remove()


def drop_file(here: Path, backup: Path) -> None:
    """Delete the clean file and its note; one that has other names is refused, as its content would stay."""
    if is_halfway(here, backup):
        raise InvalidInputError(f"{here} is still the clean file, which {backup.name} is another name of; swap first")
    if backup.exists() or backup.is_symlink():
        _require_no_other_name(backup, known=1)
        backup.unlink()
    note_of(backup).remove()


def _require_no_other_name(path: Path, *, known: int) -> None:
    if path.is_symlink():
        raise InvalidInputError(
            f"{path.name} is a link to {path.readlink()}, where the clean vectors would stay; name that file"
        )
    now = path.stat()
    if now.st_nlink <= known:
        return
    beside = [one for one in path.parent.iterdir() if one != path and os.path.samestat(one.lstat(), now)]
    names = ", ".join(sorted(one.name for one in beside)) or "in another folder"
    raise InvalidInputError(
        f"{path.name} has {now.st_nlink - 1} other names (hard links: {names}), under which the clean vectors would "
        "stay; delete those, or make copies of them"
    )
