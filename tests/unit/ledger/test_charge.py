from __future__ import annotations

from dataclasses import replace

import pytest

from support.ledgers import made_charge, shape_charge
from vecveil.core.errors import InvalidInputError
from vecveil.ledger import new_run


def test_runs_have_names_of_their_own() -> None:
    runs = {new_run() for _ in range(100)}
    assert len(runs) == 100
    assert {len(run) for run in runs} == {32}


@pytest.mark.parametrize("run", ["", "abc", "g" * 32, "A" * 32, "0" * 33])
def test_a_run_is_32_hexadecimal_characters(run: str) -> None:
    with pytest.raises(InvalidInputError, match="32 hexadecimal"):
        made_charge(run=run)


@pytest.mark.parametrize("changes", [{"kind": "relase"}, {"noise": "keyd"}])
def test_a_misspelled_kind_is_guessed_at(changes: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError, match="did you mean"):
        replace(made_charge(), **changes)


@pytest.mark.parametrize("cost", [0.0, -1.0, float("inf"), float("nan"), None, "1"])
def test_a_release_has_a_cost_that_can_be_added_up(cost: float) -> None:
    with pytest.raises(InvalidInputError, match="cost"):
        made_charge(cost=cost)


def test_a_release_names_the_distance_of_its_epsilon() -> None:
    with pytest.raises(InvalidInputError, match="distance"):
        replace(made_charge(), distance=None)


@pytest.mark.parametrize("changes", [{"cost": 1.0}, {"epsilon": 1.0}, {"distance": "Euclidean distance"}])
def test_a_shape_has_no_cost_and_an_epsilon_only_with_what_it_is_of(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match="a shape has no cost"):
        replace(shape_charge(), **changes)
