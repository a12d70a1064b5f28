from __future__ import annotations

import numpy as np
import pytest

from reproduction import Lab
from reproduction.defenses import SHAPES, TITLES, DefenseName
from vecveil.audit.defenses import Rewritten, Undefended, Veiled
from vecveil.concepts.rewriting import REWRITERS
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.veil.budget import Budget

TEN = Budget(value=10, scale="paper")

pytestmark = pytest.mark.filterwarnings("ignore:(the mask tells texts with the concept|no gate of the mask can close)")


@pytest.mark.parametrize(
    "other",
    [
        DefenseName(name="laplace", budget=Budget(value=20, scale="paper")),
        DefenseName(name="laplace", budget=Budget(value=10, scale="literal")),
        DefenseName(name="purkayastha", budget=TEN),
        DefenseName(name="sparse", budget=TEN, settings=(("penalty", 0.5),)),
    ],
)
def test_different_defenses_are_measured_apart(other: DefenseName) -> None:
    assert other.key() != DefenseName(name="laplace", budget=TEN).key()
    assert other.key() != DefenseName(name="sparse", budget=TEN).key()


@pytest.mark.parametrize(("name", "budget"), [("laplace", None), ("none", TEN), ("remove-pii", TEN)])
def test_noise_needs_a_budget_and_nothing_else_takes_one(name: str, budget: Budget | None) -> None:
    with pytest.raises(InvalidInputError, match="noise needs a budget"):
        DefenseName(name=name, budget=budget)


def test_an_unknown_defense_is_guessed() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'laplace'"):
        DefenseName(name="laplase", budget=TEN)


def test_the_scale_of_epsilon_is_told_where_it_is_not_the_papers() -> None:
    assert DefenseName(name="sparse", budget=TEN).title == "SPARSE"
    assert DefenseName(name="sparse", budget=Budget(value=10, scale="literal")).title == "SPARSE, literal ε"
    assert DefenseName(name="none").title == "no defense"


@pytest.mark.parametrize("name", TITLES)
def test_every_defense_of_the_tables_can_be_built(lab: Lab, name: str) -> None:
    bench = lab.bench("sts12")
    without = name == "none" or name in REWRITERS.names()
    defense = DefenseName(name=name, budget=None if without else TEN).build(bench, 0)
    if without:
        assert isinstance(defense, Undefended if name == "none" else Rewritten)
        return
    assert isinstance(defense, Veiled)
    # On the paper's scale the noise is 15/ε times as long as an embedding, whatever the mechanism.
    ratio = defense.veil.mechanism_at(defense.epsilon).noise_ratio(defense.veil.typical.signal)
    assert ratio == pytest.approx(1.5)
    assert defense.veil.provenance.learner["name"] == SHAPES.get(name, "uniform").partition(":")[0]
    released = defense.protect([], bench.corpus.clean[:3], np.random.default_rng(0))
    assert (released != bench.corpus.clean[:3]).any(axis=1).all()
