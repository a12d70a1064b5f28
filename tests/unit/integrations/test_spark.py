"""What can be said of Spark without one; frames are protected in `integration`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.integrations.spark import protect_frame
from vecveil.veil import Guard


class Connected:
    """A session of Spark Connect, which has settings and no context."""

    def __init__(self, master: str) -> None:
        self.conf = {"spark.master": master} if master else {}

    @property
    def sparkContext(self) -> Any:  # noqa: N802
        raise AttributeError("JVM_ATTRIBUTE_NOT_SUPPORTED")


class SampledError(Exception):
    """The ledger was found to be in order."""


@pytest.mark.parametrize("master", ["spark://there:7077", "", "local[2]"])
def test_a_session_elsewhere_needs_a_shared_ledger(guard: Guard, master: str) -> None:
    def limit(_: int) -> Any:
        raise SampledError

    frame: Any = SimpleNamespace(sparkSession=Connected(master), limit=limit)
    expected = SampledError if master.startswith("local") else InvalidInputError
    with pytest.raises(expected):
        protect_frame(frame, guard)
