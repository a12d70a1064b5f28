from __future__ import annotations

from pathlib import Path

import pytest

from support.store_fixtures import *  # noqa: F403
from support.stores import PLACES, Place, make_place


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Each of the stores that are folders, empty."""
    return make_place(request.param, tmp_path)


@pytest.fixture(params=[name for name, kind in PLACES.items() if kind.has_payload])
def place_with_fields(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Each of those that keep more of a row than its vector, empty."""
    return make_place(request.param, tmp_path)
