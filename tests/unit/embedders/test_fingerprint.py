from __future__ import annotations

import dataclasses
import json

import pytest

from vecveil.core.errors import EmbedderMismatchError, InvalidInputError
from vecveil.embedders import Fingerprint

MINE = Fingerprint(model="m", revision="r", dimensions=8, normalised=True)


def test_equal_fingerprints_have_equal_digests() -> None:
    again = Fingerprint(**json.loads(json.dumps(MINE.settings())))
    assert again == MINE
    assert again.digest() == MINE.digest()
    MINE.require(again)


@pytest.mark.parametrize("change", [{"model": "n"}, {"revision": "s"}, {"dimensions": 9}, {"normalised": False}])
def test_a_different_field_is_another_model(change: dict[str, object]) -> None:
    other = Fingerprint(**{**MINE.settings(), **change})
    assert other.digest() != MINE.digest()
    with pytest.raises(EmbedderMismatchError, match=next(iter(change))):
        MINE.require(other)


def test_a_model_without_dimensions_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="dimensions"):
        dataclasses.replace(MINE, dimensions=0)
