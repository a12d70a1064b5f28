"""Every registered utility task keeps the contract of `vecveil.testing.tasks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from support.mteb_tasks import SharedWordsSTS, TopicClustering, TopicRetrieval, loaded
from support.tasks import DOCUMENTS, JUDGMENTS, PAIRS, QUERIES, TEXTS
from vecveil.testing.tasks import WordEncoder, check_task
from vecveil.utility import UTILITY_TASKS, Encoder, Neighbors, Protected, Retrieval, Sts, TaskScores, UtilityTask
from vecveil.utility.known_item import KnownItem
from vecveil.utility.mteb import Mteb
from vecveil.utility.queries import Queries

FIRST, SECOND, SCORES = zip(*PAIRS, strict=True)
RETRIEVAL = Retrieval(queries=QUERIES, documents=DOCUMENTS, judgments=JUDGMENTS, rerank=0)
LONG = tuple(f"{one} {other}" for one, other in zip(TEXTS, TEXTS[7:] + TEXTS[:7], strict=True))
ONLY_BOTH: Sequence[Protected] = ("both",)

TASKS: dict[str, list[Callable[[], UtilityTask]]] = {
    "known-item": [
        lambda: KnownItem(texts=LONG, words=3, rerank=0),
        lambda: KnownItem(texts=LONG, private=(((0, 3),),) * len(LONG), queries=9, rerank=4),
    ],
    "mteb": [lambda: Mteb(task=loaded(TopicRetrieval))],
    "neighbors": [
        lambda: Neighbors(texts=TEXTS, neighbors=4),
        lambda: Neighbors(texts=TEXTS, neighbors=2, queries=9),
    ],
    "queries": [
        lambda: Queries(texts=TEXTS, queries=tuple(QUERIES.values()), hits=2, rerank=0),
        lambda: Queries(texts=TEXTS, queries=tuple(QUERIES.values()), hits=2, rerank=4),
    ],
    "retrieval": [
        lambda: RETRIEVAL,
        lambda: replace(RETRIEVAL, same_ids=True, source="topics"),
        lambda: replace(RETRIEVAL, rerank=5),
    ],
    "sts": [lambda: Sts(first=FIRST, second=SECOND, scores=SCORES)],
}


def test_every_registered_task_is_covered() -> None:
    assert sorted(TASKS) == UTILITY_TASKS.names()
    for name, makers in TASKS.items():
        assert all(isinstance(make(), UTILITY_TASKS.load(name)) for make in makers)


@pytest.mark.parametrize("name", UTILITY_TASKS.names())
def test_a_task_keeps_the_contract(name: str) -> None:
    for make in TASKS[name]:
        check_task(make())


@pytest.mark.parametrize("task", [SharedWordsSTS, TopicClustering], ids=lambda task: task.__name__)
def test_tasks_of_mteb_without_sides_keep_the_contract(task: type[SharedWordsSTS]) -> None:
    check_task(Mteb(task=loaded(task)), sides=ONLY_BOTH)


@dataclass(frozen=True, kw_only=True)
class Honest:
    """A task that does all that it must, and whose children each do not."""

    protected: Protected = "both"

    @property
    def label(self) -> str:
        return f"honest, {self.protected}"

    def score(self, encoder: Encoder) -> TaskScores:
        return replace(RETRIEVAL, protected=self.protected).score(encoder)


class Nameless(Honest):
    @property
    def label(self) -> str:
        return ""


class OneLabel(Honest):
    @property
    def label(self) -> str:
        return "always this"


class Headless(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        return replace(super().score(encoder), main="precision")


class NotFinite(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        return replace(super().score(encoder), scores={"ndcg@10": float("nan")})


class Empty(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        return replace(super().score(encoder), cases=0)


class Random(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        drawn = float(np.random.default_rng().random())
        return replace(super().score(encoder), scores={"ndcg@10": drawn})


class Blind(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        return replace(super().score(encoder), scores={"ndcg@10": 0.5})


class OneSided(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        found = replace(RETRIEVAL, protected="queries").score(encoder)
        return replace(found, protected=self.protected)


class Unasked(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        if self.protected != "documents":
            return super().score(encoder)
        encoder.embed_released(tuple(DOCUMENTS.values()))
        return super().score(WordEncoder())


class AlwaysBoth(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        found = replace(RETRIEVAL, protected="both").score(encoder)
        return replace(found, protected=self.protected)


class Partial(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        return OneSided().score(encoder) if self.protected == "both" else super().score(encoder)


class Silent(Honest):
    def score(self, encoder: Encoder) -> TaskScores:
        return replace(super().score(encoder), protected="both")


def test_the_contract_lets_an_honest_task_pass() -> None:
    check_task(Honest())


@pytest.mark.parametrize(
    ("task", "fact"),
    [
        (Nameless(), "must have a label"),
        (Headless(), "main score must be among"),
        (NotFinite(), "finite numbers"),
        (Empty(), "come from something"),
        (Random(), "same encoder must give the same"),
        (Blind(), "nothing but noise must score lower"),
        (OneLabel(), "label must tell the side"),
        (Silent(), "tell the side that was protected"),
        (Partial(), "both sides must get released vectors"),
        (OneSided(), "documents must be clean where queries are protected"),
        (Unasked(), "queries must be clean where documents are protected"),
        (AlwaysBoth(), "documents must be clean where queries are protected"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Honest) else "",
)
def test_the_contract_catches(task: UtilityTask, fact: str) -> None:
    with pytest.raises(AssertionError, match=fact):
        check_task(task)
