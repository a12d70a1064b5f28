"""Utility: what is left of the uses of vectors after protection."""

from vecveil.utility.neighbours import Neighbours, NeighboursKept
from vecveil.utility.registry import UTILITY_TASKS
from vecveil.utility.retrieval import Retrieval
from vecveil.utility.sts import Sts
from vecveil.utility.task import Encoder, Protected, TaskScores, UtilityTask

__all__ = [
    "UTILITY_TASKS",
    "Encoder",
    "Neighbours",
    "NeighboursKept",
    "Protected",
    "Retrieval",
    "Sts",
    "TaskScores",
    "UtilityTask",
]
