from __future__ import annotations

from pathlib import Path

import pytest

from support.guards import named_guard
from vecveil.veil import Guard


@pytest.fixture
def guard(tmp_path: Path, model_folder: Path) -> Guard:
    """A keyed guard that is on record."""
    return named_guard(tmp_path, model_folder, ledger=str(tmp_path / "ledger.sqlite"))
