"""Utility tasks, which measure the uses of vectors after protection."""

from vecveil.utility.neighbors import Neighbors
from vecveil.utility.retrieval import Retrieval
from vecveil.utility.sts import Sts
from vecveil.utility.task import UTILITY_TASKS, Encoder, Protected, TaskScores, UtilityTask

__all__ = [
    "UTILITY_TASKS",
    "Encoder",
    "Neighbors",
    "Protected",
    "Retrieval",
    "Sts",
    "TaskScores",
    "UtilityTask",
]
