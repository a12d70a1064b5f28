from __future__ import annotations

import numpy as np
import pytest

from vecveil.attacks import ConceptProbe
from vecveil.core.errors import InvalidInputError


def planted(strength: float, rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    present = rng.random(rows) < 0.5
    vectors = rng.standard_normal((rows, 10))
    vectors[:, 0] += strength * present
    return vectors, present


def test_a_probe_finds_what_is_there() -> None:
    score = ConceptProbe().score(*planted(6.0))
    assert score.auc > 0.98
    assert score.accuracy > 0.95
    assert score.tested == 180


def test_a_probe_is_blind_where_there_is_nothing() -> None:
    assert ConceptProbe().score(*planted(0.0)).auc == pytest.approx(0.5, abs=0.1)


def test_a_probe_finds_what_no_straight_line_can() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((1500, 4))
    assert ConceptProbe().score(vectors, vectors[:, 0] * vectors[:, 1] > 0).auc > 0.9


def test_groups_stay_on_one_side_of_the_split() -> None:
    """With each group's label drawn at random, only a probe that has seen the group could know it."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((150, 20))
    groups = np.repeat(np.arange(150), 4)
    vectors = centres[groups] + 0.01 * rng.standard_normal((600, 20))
    present = (rng.random(150) < 0.5)[groups]
    assert ConceptProbe().score(vectors, present).auc > 0.9
    assert ConceptProbe().score(vectors, present, groups).auc < 0.75


def test_one_class_alone_cannot_be_probed() -> None:
    with pytest.raises(InvalidInputError, match="with and without the concept"):
        ConceptProbe().score(np.ones((10, 2)), np.ones(10, dtype=bool))
    with pytest.raises(InvalidInputError, match="one truth value per vector"):
        ConceptProbe().score(np.ones((10, 2)), np.ones(9, dtype=bool))
