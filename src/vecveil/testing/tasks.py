"""The contract of utility tasks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.testing.toy_notes import embed_words
from vecveil.utility import Protected, TaskScores, UtilityTask

DIMENSIONS = 64
SIDES: tuple[Protected, ...] = get_args(Protected)


@dataclass(kw_only=True)
class WordEncoder:
    """An encoder that needs no model: texts are near each other that share words. It notes what it was asked for.

    Attributes:
        noise: Length of the noise on released vectors over the length of a vector; infinite for nothing but noise.
        asked_clean: Every text that a clean vector was asked for.
        asked_released: Every text that a released vector was asked for.
    """

    noise: float = 0.0
    asked_clean: set[str] = field(default_factory=set)
    asked_released: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def embed_clean(self, texts: Sequence[str]) -> Embeddings:
        """Return the sum of one direction per word, at length one."""
        self.asked_clean.update(texts)
        return self._vectors(texts)

    def embed_released(self, texts: Sequence[str]) -> Embeddings:
        """Return the same with fresh noise."""
        self.asked_released.update(texts)
        vectors = self._vectors(texts)
        if self.noise == 0:
            return vectors
        noise = (self._rng.standard_normal(vectors.shape) / math.sqrt(DIMENSIONS)).astype(np.float32)
        return noise if math.isinf(self.noise) else vectors + np.float32(self.noise) * noise

    def _vectors(self, texts: Sequence[str]) -> Embeddings:
        return embed_words([text.lower() for text in texts], dimensions=DIMENSIONS)


def check_task(task: UtilityTask, *, sides: Sequence[Protected] = SIDES) -> None:
    """Raise AssertionError unless `task` keeps the contract.

    Args:
        task: A dataclass with a field `protected`. Its texts should be such that texts which belong together share
            words, as real ones do.
        sides: What the task can have protected.
    """
    assert task.label.strip(), "a task must have a label"
    undefended = task.score(WordEncoder())
    _check_scores(undefended)
    assert task.score(WordEncoder(noise=1.0)) == task.score(WordEncoder(noise=1.0)), (
        "the same encoder must give the same scores"
    )
    lost = task.score(WordEncoder(noise=math.inf))
    _check_scores(lost)
    assert lost.scores[lost.main] < undefended.scores[undefended.main], "nothing but noise must score lower"
    _check_sides({side: replace(cast(Any, task), protected=side) for side in sides}, undefended)


def _check_scores(scores: TaskScores) -> None:
    assert scores.main in scores.scores, "the main score must be among the scores"
    assert all(isinstance(value, float) and math.isfinite(value) for value in scores.scores.values()), (
        "scores must be finite numbers"
    )
    assert scores.cases > 0, "scores must come from something"


def _check_sides(tasks: dict[Protected, UtilityTask], undefended: TaskScores) -> None:
    assert len({task.label for task in tasks.values()}) == len(tasks), "the label must tell the side"
    encoders = {side: WordEncoder() for side in tasks}
    for side, task in tasks.items():
        scores = task.score(encoders[side])
        assert scores.protected == side, "scores must tell the side that was protected"
        assert scores.scores == undefended.scores, "a defense that does nothing must change nothing, on either side"
        assert encoders[side].asked_released, "the protected side must get released vectors"
    if set(tasks) != set(SIDES):
        return
    both, queries, documents = encoders["both"], encoders["queries"], encoders["documents"]
    assert both.asked_released == queries.asked_released | documents.asked_released, (
        "both sides must get released vectors where both are protected"
    )
    assert documents.asked_released <= queries.asked_clean, "documents must be clean where queries are protected"
    assert queries.asked_released <= documents.asked_clean, "queries must be clean where documents are protected"
