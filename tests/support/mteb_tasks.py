"""Tasks of MTEB with a handful of texts in them, which need no hub. Imports mteb."""

from __future__ import annotations

from typing import Any

from datasets import Dataset, DatasetDict
from mteb.abstasks import AbsTask, AbsTaskClustering, AbsTaskRetrieval, AbsTaskSTS
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
from mteb.abstasks.task_metadata import TaskMetadata

from support.tasks import DOCUMENTS, JUDGMENTS, PAIRS, QUERIES, TEXTS, TOPICS


def _metadata(name: str, kind: str, main_score: str) -> TaskMetadata:
    return TaskMetadata(
        name=name,
        type=kind,
        main_score=main_score,
        description="A handful of texts.",
        dataset={"path": "vecveil/nowhere", "revision": "1"},
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        modalities=["text"],
        category="t2t",
    )


class SharedWordsSTS(AbsTaskSTS):
    """Pairs scored by the words that they share."""

    metadata = _metadata("SharedWordsSTS", "STS", "cosine_spearman")

    def load_data(self, **_: Any) -> None:
        first, second, scores = zip(*PAIRS, strict=True)
        data = Dataset.from_dict({"sentence1": list(first), "sentence2": list(second), "score": list(scores)})
        self.dataset = DatasetDict({"test": data})
        self.data_loaded = True


class TopicRetrieval(AbsTaskRetrieval):
    """Queries that are relevant to a topic."""

    metadata = _metadata("TopicRetrieval", "Retrieval", "ndcg_at_10")

    def load_data(self, **_: Any) -> None:
        split = RetrievalSplitData(
            queries=Dataset.from_list([{"id": key, "text": text} for key, text in QUERIES.items()]),
            corpus=Dataset.from_list([{"id": key, "title": "", "text": text} for key, text in DOCUMENTS.items()]),
            relevant_docs=JUDGMENTS,
            top_ranked=None,
        )
        self.dataset = {"default": {"test": split}}
        self.data_loaded = True


class TopicClustering(AbsTaskClustering):
    """Texts to be sorted by topic; draws samples from the task's own generator."""

    metadata = _metadata("TopicClustering", "Clustering", "v_measure")
    max_fraction_of_documents_to_embed = 0.5
    max_document_to_embed = None
    # MTEB's own numbers are for thousands of texts.
    n_clusters = 2
    max_documents_per_cluster = 50

    def load_data(self, **_: Any) -> None:
        labels = [list(TOPICS).index(text.split()[0]) for text in TEXTS]
        self.dataset = DatasetDict({"test": Dataset.from_dict({"sentences": list(TEXTS), "labels": labels})})
        self.data_loaded = True


def loaded(task: type[AbsTask]) -> AbsTask:
    """Return a task with its data."""
    made = task()
    made.load_data()
    return made
