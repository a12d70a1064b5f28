"""Where things are kept for a user."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of what must not get lost: ledger and keys."""
    # The specification of these folders has it that a relative one counts as none.
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else Path.home() / ".local" / "share") / "vecveil"
