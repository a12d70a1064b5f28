from __future__ import annotations

import pytest

from reproduction import EXPERIMENTS
from reproduction.published import read_published

COUNTS = {
    "main-results": 96,
    "more-datasets": 192,
    "attack-models": 21,
    "categories": 32,
    "white-box": 60,
    "similar-tokens": 15,
    "neuron-masks": 0,
    "privacy-neurons": 3,
    "embedding-models": 24,
    "pii-baselines": 22,
    "regularization": 100,
    "overhead": 5,
    "case-study": 8,
}


@pytest.mark.parametrize("name", EXPERIMENTS.builtin)
def test_every_figure_of_the_paper_is_there(name: str) -> None:
    assert len(read_published(name).figures) == COUNTS[name]


@pytest.mark.parametrize("name", EXPERIMENTS.builtin)
def test_an_experiment_is_found_under_its_own_name(name: str) -> None:
    found = EXPERIMENTS.load(name)
    assert found.name == name
    assert found.title
    assert found.where


@pytest.mark.parametrize(
    ("experiment", "keys", "metric", "value"),
    [
        ("main-results", {"dataset": "sts12", "epsilon": "10", "defense": "sparse"}, "leakage", 19.31),
        ("main-results", {"dataset": "fiqa", "epsilon": "inf", "defense": "none"}, "utility", 33.56),
        ("more-datasets", {"dataset": "nfcorpus", "epsilon": "5", "defense": "laplace"}, "utility", 23.70),
        ("white-box", {"dataset": "sts12", "epsilon": "5", "defense": "sparse-wb"}, "leakage", 1.43),
        ("regularization", {"dataset": "fiqa", "epsilon": "40", "regularization": "0.0001"}, "utility", 26.50),
        ("categories", {"dataset": "clinical", "category": "sex", "defense": "sparse"}, "leakage", 28.45),
        ("embedding-models", {"embedder": "sentence-t5", "defense": "sparse"}, "utility", 74.45),
        ("similar-tokens", {"group": "country", "tokens": "other"}, "mitigation", 29.1),
    ],
)
def test_figures_are_as_printed(experiment: str, keys: dict[str, str], metric: str, value: float) -> None:
    assert read_published(experiment).value(keys, metric) == value


def test_what_the_paper_does_not_print_is_none() -> None:
    keys = {"dataset": "sts12", "epsilon": "7", "defense": "sparse"}
    assert read_published("main-results").value(keys, "leakage") is None
    assert read_published("neuron-masks").value({}, "shared") is None
