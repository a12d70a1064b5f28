"""Tasks of MTEB, the Massive Text Embedding Benchmark, run by MTEB."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random.mtrand import get_bit_generator

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import one_of
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.utility.task import Encoder, Protected, Side, SidedTask, TaskScores, encode_side

if TYPE_CHECKING:
    from mteb.abstasks import AbsTask

OTHER_SCORES = {
    "ap",
    "cosine_pearson",
    "cosine_spearman",
    "f1",
    "map_at_10",
    "mrr_at_10",
    "recall_at_10",
    "recall_at_100",
}
"""The scores that are kept beside a task's main one. MTEB gives a hundred for one retrieval task."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Mteb(SidedTask):
    """A task of MTEB with protected vectors. The main score is MTEB's own, averaged over splits and subsets.

    Tasks that know no queries and documents, such as STS, have both sides protected or none.

    Attributes:
        task: The task with its data, from `load_mteb` or made by hand.
    """

    task: AbsTask = field(repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "source", self.source or self.task.metadata.name)

    def score(self, encoder: Encoder) -> TaskScores:
        """Return the task's main score and some beside it, under MTEB's names."""
        asked: Counter[Side | None] = Counter()
        with import_mteb() as mteb:
            model = _build_model(encoder, self.protected, asked)
            results = mteb.evaluate(
                model,
                self._copy_task(),
                # Results of noisy vectors are no results of a model, and belong into no cache of them.
                cache=None,
                co2_tracker=False,
                show_progress_bar=False,
                encode_kwargs={"batch_size": 256, "show_progress_bar": False},
            )
        main = self.task.metadata.main_score
        rows = [row for result in results.task_results for split in result.scores.values() for row in split]
        # The queries, or the texts where MTEB does not tell queries from documents.
        cases = asked["query"] or asked[None] or asked["document"]
        return TaskScores(main=main, scores=_average_scores(rows, main), protected=self.protected, cases=cases)

    def _copy_task(self) -> AbsTask:
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
    with import_mteb() as mteb:
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
            _load_data(part)
    return task


def _load_data(task: AbsTask) -> None:
    try:
        task.load_data()
    # The library behind it fails in many ways on data that it has not and can't get.
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        data, kind = task.metadata.dataset, type(error).__name__
        raise ArtifactError(
            f"the data of the MTEB task {task.metadata.name} cannot be loaded ({kind}): {data['path']} at revision "
            f"{data['revision']} must be in this machine's cache of data sets or be reached on the hub"
        ) from None


def _average_scores(rows: Sequence[Mapping[str, Any]], main: str) -> dict[str, float]:
    scores = {main: float(np.mean([row["main_score"] for row in rows]))}
    for name in sorted(OTHER_SCORES.intersection(*rows) - {main}):
        scores[name] = float(np.mean([row[name] for row in rows]))
    return scores


def _build_model(encoder: Encoder, protected: Protected, asked: Counter[Side | None]) -> Any:
    """Return an encoder as a model of MTEB, without prompts, that counts the texts of each side in `asked`."""
    from mteb.models.abs_encoder import AbsEncoder
    from mteb.models.model_meta import ModelMeta, ScoringFunction

    class EncoderModel(AbsEncoder):
        mteb_model_meta = ModelMeta.create_empty(
            {"name": "vecveil/encoder", "similarity_fn_name": ScoringFunction.COSINE}
        )

        def encode(self, inputs: Iterable[Any], *, task_metadata: Any, prompt_type: Any = None, **_: Any) -> Embeddings:
            texts = [text for batch in inputs for text in batch["text"]]
            side: Side | None = None if prompt_type is None else prompt_type.value
            if side is None and protected != "both":
                raise InvalidInputError(
                    f"the MTEB task {task_metadata.name} tells no queries from documents, so both are protected or "
                    f"none, got {protected=}"
                )
            asked[side] += len(texts)
            return encode_side(encoder, texts, side=side or "query", protected=protected)

    return EncoderModel()


@contextmanager
def import_mteb() -> Iterator[ModuleType]:
    """Yield the package, and undo what it does to the program's random numbers and progress bars."""
    torch = _import("torch")
    numbers = get_bit_generator()
    drawn = random.getstate(), numbers.state
    try:
        # MTEB seeds every generator that it finds, and already when it is imported.
        with torch.random.fork_rng(devices=[]), _hide_bars():
            yield _import("mteb")
    finally:
        random.setstate(drawn[0])
        numbers.state = drawn[1]


@contextmanager
def _hide_bars() -> Iterator[None]:
    bars = _import("datasets.utils.tqdm")
    if bars.are_progress_bars_disabled():
        yield
        return
    bars.disable_progress_bars()
    try:
        yield
    finally:
        bars.enable_progress_bars()


def _import(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("mteb", "mteb") from None
