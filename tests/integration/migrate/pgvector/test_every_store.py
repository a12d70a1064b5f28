"""What every store must do, on PostgreSQL: the unit tests of `migrate` once more, with tables."""

from __future__ import annotations

import pytest

from support.stores import PgvectorPlace, Place
from unit.migrate.test_comparison import *  # noqa: F403
from unit.migrate.test_migration import *  # noqa: F403
from unit.migrate.test_swapping import *  # noqa: F403


@pytest.fixture
def place(pgvector_place: PgvectorPlace) -> Place:
    return pgvector_place


@pytest.fixture
def place_with_fields(pgvector_place: PgvectorPlace) -> Place:
    return pgvector_place
