from __future__ import annotations

from pathlib import Path

import pytest

from reproduction.datasets import DATASETS, Sizes
from support.benchmark import sentences, write_benchmark
from vecveil.core.errors import InvalidInputError


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_benchmark(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_is_read_in_its_form(data: Path, name: str) -> None:
    found = DATASETS[name].some_texts(data, Sizes(texts=40))
    assert len({passage.text for passage in found}) == 40
    assert all(passage.text.strip() for passage in found)


@pytest.mark.parametrize("name", ["clinical", "pii"])
def test_marked_texts_come_with_their_marks(data: Path, name: str) -> None:
    known = DATASETS[name]
    passages = known.texts(data)
    labels = {span.label for spans in known.concept.find_all(passages) for span in spans}
    assert labels == {*known.concept.expected}


def test_a_split_of_the_queries_are_the_texts(data: Path) -> None:
    assert {passage.text for passage in DATASETS["fiqa"].texts(data)} == {*sentences()}


def test_a_quick_look_limits_the_tasks(data: Path) -> None:
    sizes = Sizes(pairs=30, queries=4, documents=20)
    assert str(DATASETS["sts12"].task(data, sizes)).endswith("sts12.parquet,split=test,pairs=30")
    assert str(DATASETS["fiqa"].task(data, sizes)).endswith("fiqa,protected=both,rerank=0,queries=4,documents=20")
    assert DATASETS["clinical"].task(data, sizes) is None


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"has no sts12/sts12.parquet"):
        DATASETS["sts12"].texts(tmp_path)
