from __future__ import annotations

import sys

import pytest

from vecveil.concepts.presidio import Presidio
from vecveil.core.errors import InvalidInputError, MissingExtraError


def test_a_pipeline_that_is_not_installed_is_an_error_and_not_a_download() -> None:
    with pytest.raises(InvalidInputError, match="'xx_none_sm' is neither installed nor a folder"):
        Presidio(entities=("PERSON",), model="xx_none_sm").find("x")


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_the_score_lies_between_0_and_1(score: float) -> None:
    with pytest.raises(InvalidInputError, match="score"):
        Presidio(entities=("PERSON",), score=score)


def test_without_presidio_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[presidio\]"):
        Presidio(entities=("PERSON",), model="another pipeline").find("x")


def test_its_summary_is_its_settings() -> None:
    concept = Presidio(entities=("PERSON",), score=0.4)
    assert concept.summary() == {"kind": "presidio", "entities": ["PERSON"], "score": 0.4}
    assert concept.expected == ("PERSON",)
