"""The unit tests of the same name once more, on PostgreSQL."""

from __future__ import annotations

from unit.ledger.test_ledger import *  # noqa: F403
