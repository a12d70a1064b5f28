from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from mteb.abstasks import AbsTask
from numpy.random.mtrand import get_bit_generator

from support.mteb_tasks import SharedWordsSTS, TopicClustering, TopicRetrieval, loaded
from support.tasks import DOCUMENTS, JUDGMENTS, PAIRS, QUERIES
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError, UnknownNameError
from vecveil.testing.tasks import WordEncoder
from vecveil.utility import Retrieval, Sts
from vecveil.utility.mteb import Mteb, load_mteb


@pytest.fixture(scope="module")
def similarity() -> Mteb:
    return Mteb(task=loaded(SharedWordsSTS))


@pytest.fixture(scope="module")
def search() -> Mteb:
    return Mteb(task=loaded(TopicRetrieval))


def test_mteb_and_sts_agree(similarity: Mteb) -> None:
    first, second, scores = zip(*PAIRS, strict=True)
    ours = Sts(first=first, second=second, scores=scores).score(WordEncoder(noise=0.5)).scores
    theirs = similarity.score(WordEncoder(noise=0.5))
    assert theirs.main == "cosine_spearman"
    assert theirs.scores["cosine_spearman"] == pytest.approx(ours["spearman"], abs=1e-6)
    assert theirs.scores["cosine_pearson"] == pytest.approx(ours["pearson"], abs=1e-6)


@pytest.mark.parametrize("side", ["both", "queries", "documents"])
def test_mteb_and_retrieval_agree(side: str, search: Mteb) -> None:
    task = Retrieval(queries=QUERIES, documents=DOCUMENTS, judgments=JUDGMENTS, protected=side)
    ours, theirs = task.score(WordEncoder()).scores, replace(search, protected=side).score(WordEncoder())
    assert (theirs.main, theirs.cases) == ("ndcg_at_10", len(QUERIES))
    for name in ("ndcg", "map", "recall", "mrr"):
        assert theirs.scores[f"{name}_at_10"] == pytest.approx(ours[f"{name}@10"], abs=1e-5)


def test_the_side_decides_which_vectors_are_protected(search: Mteb) -> None:
    encoder = WordEncoder()
    scores = replace(search, protected="documents").score(encoder)
    assert encoder.asked_released == set(DOCUMENTS.values())
    assert encoder.asked_clean == set(QUERIES.values())
    assert scores.protected == "documents"


def test_a_task_without_sides_has_both_protected_or_none(similarity: Mteb) -> None:
    with pytest.raises(
        InvalidInputError, match=r"SharedWordsSTS tells no queries from documents.*got protected='queries'"
    ):
        replace(similarity, protected="queries").score(WordEncoder())


def test_the_label_names_task_and_side(search: Mteb) -> None:
    assert search.label == "mteb:TopicRetrieval"
    assert replace(search, protected="queries").label == "mteb:TopicRetrieval (queries protected)"


def test_the_programs_random_numbers_go_on_as_before(similarity: Mteb) -> None:
    drawn = random.getstate(), get_bit_generator().state["state"]["key"].tolist(), torch.random.get_rng_state().tolist()
    similarity.score(WordEncoder())
    assert random.getstate() == drawn[0]
    assert get_bit_generator().state["state"]["key"].tolist() == drawn[1]
    assert torch.random.get_rng_state().tolist() == drawn[2]


def test_a_task_draws_the_same_for_every_encoder() -> None:
    clustering = Mteb(task=loaded(TopicClustering))
    asked = [WordEncoder(), WordEncoder()]
    for encoder in asked:
        clustering.score(encoder)
    assert asked[0].asked_released == asked[1].asked_released


def test_nothing_is_drawn_and_no_result_is_kept(
    search: Mteb, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path / "cache"))
    search.score(WordEncoder())
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_task_is_refused_with_a_guess() -> None:
    with pytest.raises(InvalidInputError, match=r"MTEB has no such task: 'STS1' not found\. Did you mean: 'STS17'"):
        load_mteb("STS1")


def test_data_that_cannot_be_had_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(task: AbsTask, **_: object) -> None:
        raise ConnectionError("Couldn't reach it")

    monkeypatch.setattr(AbsTask, "load_data", unreachable)
    with pytest.raises(
        ArtifactError, match=r"STS12 cannot be loaded \(ConnectionError\): mteb/sts12-sts at revision a0d5"
    ):
        load_mteb("STS12")


def test_splits_and_subsets_are_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AbsTask, "load_data", lambda *_, **__: None)
    task = load_mteb("STS17", split="test", subset="en-en")
    assert (list(task.eval_splits), task.hf_subsets) == (["test"], ["en-en"])
    with pytest.raises(UnknownNameError, match="unknown split of STS12 'tests'; did you mean 'test'"):
        load_mteb("STS12", split="tests")
    with pytest.raises(UnknownNameError, match="unknown subset of STS17 'en'"):
        load_mteb("STS17", subset="en")


def test_tasks_about_images_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="CIFAR10Clustering is not for texts alone"):
        load_mteb("CIFAR10Clustering")


def test_the_extra_is_named_where_mteb_is_missing(similarity: Mteb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mteb", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[mteb\]"):
        similarity.score(WordEncoder())


def test_errors_of_the_encoder_come_through(similarity: Mteb) -> None:
    class Broken(WordEncoder):
        def embed_released(self, _: Sequence[str]) -> Embeddings:
            raise MissingExtraError("torch", "local")

    with pytest.raises(MissingExtraError, match=r"vecveil\[local\]"):
        similarity.score(Broken())
