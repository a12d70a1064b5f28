"""Any task of MTEB, the Massive Text Embedding Benchmark, run by MTEB itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from vecveil.core.checks import one_of
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.utility.mteb_library import mteb_library
from vecveil.utility.task import Encoder, Protected, TaskScores, task_label

if TYPE_CHECKING:
    from mteb.abstasks import AbsTask

BESIDE = {"ap", "cosine_pearson", "cosine_spearman", "f1", "map_at_10", "mrr_at_10", "recall_at_10", "recall_at_100"}
"""The scores that are told beside a task's main one. MTEB gives a hundred for one retrieval task."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Mteb:
    """A task of MTEB with protected vectors. The main score is MTEB's own, averaged over splits and subsets.

    Attributes:
        task: The task with its data, from `load_mteb` or made by hand.
        protected: Which side is protected. Tasks that know no queries and documents, such as STS, know only `both`.
        source: How the label calls the task; its name where empty.
    """

    task: AbsTask = field(repr=False)
    protected: Protected = "both"
    source: str = ""

    def __post_init__(self) -> None:
        one_of(self.protected, get_args(Protected), "protected side")

    @property
    def label(self) -> str:
        """How tables name the task."""
        return task_label("mteb", source=self.source or self.task.metadata.name, protected=self.protected)

    def score(self, encoder: Encoder) -> TaskScores:
        """Return the task's main score and some beside it, under MTEB's names."""
        with mteb_library() as mteb:
            from vecveil.utility.mteb_model import EncoderModel

            model = EncoderModel(encoder, self.protected)
            found = mteb.evaluate(
                model,
                self._anew(),
                # Results of noisy vectors are no results of a model, and belong into no cache of them.
                cache=None,
                co2_tracker=False,
                show_progress_bar=False,
                encode_kwargs={"batch_size": 256, "show_progress_bar": False},
            )
        main = self.task.metadata.main_score
        rows = [row for result in found.task_results for split in result.scores.values() for row in split]
        return TaskScores(main=main, scores=_means(rows, main), protected=self.protected, cases=model.cases)

    def _anew(self) -> AbsTask:
        # A task draws from generators of its own; from copies of them it draws the same for every encoder.
        task = copy(self.task)
        task.rng_state, task.np_rng = deepcopy(self.task.rng_state), deepcopy(self.task.np_rng)
        return task


def load_mteb(name: str, *, split: str | None = None, subset: str | None = None) -> AbsTask:
    """Return the task that MTEB knows as `name`, with its data: from the cache of the `datasets` library or the hub.

    Args:
        name: Such as STS12 or NFCorpus.
        split: The only split to evaluate; MTEB's choice where None.
        subset: The only subset, often a language; all where None.
    """
    with mteb_library() as mteb:
        try:
            task: AbsTask = mteb.get_task(name)
        except KeyError as error:
            raise InvalidInputError(f"MTEB has no such task: {str(error.args[0]).removeprefix('KeyError: ')}") from None
        if split is not None:
            task = task.filter_eval_splits([one_of(split, task.metadata.eval_splits, f"split of {name}")])
        if subset is not None:
            task.hf_subsets = [one_of(subset, task.metadata.hf_subsets, f"subset of {name}")]
        if set(task.metadata.modalities) != {"text"}:
            raise InvalidInputError(f"the MTEB task {name} is not for texts alone, got {task.metadata.modalities!r}")
        # An aggregate has no data, but parts that do.
        for part in getattr(task, "tasks", [task]):
            _load(part)
    return task


def _load(task: AbsTask) -> None:
    try:
        task.load_data()
    # The library behind it fails in many ways on data that it has not and can't get.
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        data, kind = task.metadata.dataset, type(error).__name__
        raise ArtifactError(
            f"the data of the MTEB task {task.metadata.name} cannot be loaded ({kind}): {data['path']} at revision "
            f"{data['revision']} must be in this machine's cache of data sets or be reached on the hub"
        ) from None


def _means(rows: Sequence[Mapping[str, Any]], main: str) -> dict[str, float]:
    scores = {main: float(np.mean([row["main_score"] for row in rows]))}
    for name in sorted(BESIDE.intersection(*rows) - {main}):
        scores[name] = float(np.mean([row[name] for row in rows]))
    return scores
