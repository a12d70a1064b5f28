"""The utility tasks by name."""

from __future__ import annotations

from vecveil.core.registry import Registry
from vecveil.utility.task import UtilityTask

UTILITY_TASKS: Registry[type[UtilityTask]] = Registry(
    kind="utility task",
    builtin={
        "mteb": "vecveil.utility.mteb:Mteb",
        "neighbours": "vecveil.utility.neighbours:Neighbours",
        "retrieval": "vecveil.utility.retrieval:Retrieval",
        "sts": "vecveil.utility.sts:Sts",
    },
    group="vecveil.utility",
)
