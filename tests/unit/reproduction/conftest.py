from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from reproduction import (
    QUICK,
    Lab,
    attack_models,
    datasets,
    neuron_masks,
    regularization,
    similar_tokens,
    trade_off,
    white_box,
)
from reproduction.datasets import Sizes
from support.benchmark import toy_entities, write_benchmark
from vecveil.concepts.rewriting import REWRITERS
from vecveil.embedders.registry import EMBEDDERS
from vecveil.shapes.hard_concrete import HardConcrete
from vecveil.shapes.integrated_gradients import IntegratedGradients

TINY = replace(
    QUICK,
    sizes=Sizes(pairs=40, queries=6, documents=60),
    mlc="mlc,epochs=4,batch_size=32,hidden=[16]",
    adapted="epochs=1",
    scratch="epochs=1,layers=1,width=32,heads=2,vocabulary=300",
    epsilons=1,
    words=1,
    runs=20,
    samples=(100,),
)
"""Work that takes a moment."""


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Toys in the place of the two packaged models, of spaCy and of Presidio."""
    names = cast(Any, EMBEDDERS.builtin)
    for name in ("minilm", "mpnet"):
        monkeypatch.setitem(names, name, f"support.benchmark:toy_{name}")
    monkeypatch.setattr(datasets, "Entities", toy_entities)
    monkeypatch.setitem(cast(Any, REWRITERS.builtin), "remove-pii", REWRITERS.builtin["remove"])


@pytest.fixture(autouse=True)
def short_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes that are learned in a moment, and know little."""
    train, fit = HardConcrete._train, IntegratedGradients.fit

    def train_briefly(learner: HardConcrete, *given: Any) -> Any:
        return train(replace(learner, epochs=2, hidden=(8,)), *given)

    def fit_briefly(learner: IntegratedGradients, *given: Any, **more: Any) -> Any:
        settings = {"epochs": 4, "batch_size": 32, "hidden": (16,)}
        return fit(replace(learner, attack_settings=settings, steps=4), *given, **more)

    monkeypatch.setattr(HardConcrete, "_train", train_briefly)
    monkeypatch.setattr(IntegratedGradients, "fit", fit_briefly)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of which only a part is measured."""
    monkeypatch.setattr(trade_off, "EPSILONS", (5, 40))
    monkeypatch.setattr(white_box, "EPSILONS", (10,))
    monkeypatch.setattr(regularization, "GRID", (0.01, 0.0001))
    monkeypatch.setattr(attack_models, "NOISES", ("laplace",))
    monkeypatch.setattr(similar_tokens, "FIVE", ("weekdays", "city"))
    monkeypatch.setattr(neuron_masks, "SIX", ("weekdays", "country"))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A lab on small data; what one test measures, another need not."""
    place = tmp_path_factory.mktemp("reproduction")
    return Lab(data=write_benchmark(place / "data"), out=place / "measured", effort=TINY)
