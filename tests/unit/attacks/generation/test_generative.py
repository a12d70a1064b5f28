from __future__ import annotations

from typing import Any

import pytest

from support.embedders import WordEmbedder
from vecveil.attacks.geia import Geia
from vecveil.attacks.vec2text import Vec2Text
from vecveil.core.errors import InvalidInputError


@pytest.mark.parametrize("attack", [Geia, Vec2Text])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 30, "heads": 4}, "width must be a multiple of heads, got 30 and 4"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1, got 0"),
        ({"learning_rate": -1.0}, "learning_rate must be a finite number above zero"),
        ({"noise": -0.1}, "noise must be a finite number of at least zero"),
        ({"max_tokens": 2}, "max_tokens must be a whole number of at least 4, got 2"),
        ({"vocabulary": 299}, "vocabulary must be a whole number of at least 300, got 299"),
    ],
)
def test_settings_that_generative_attacks_share_are_checked_at_birth(
    attack: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        attack(**settings)


def test_settings_are_what_changes_what_is_learned() -> None:
    embedder = WordEmbedder()
    attack = Vec2Text(epochs=3, embed=embedder.embed, embedder=embedder.fingerprint)
    assert attack.settings()["epochs"] == 3
    assert attack.settings() == Vec2Text(epochs=3).settings()
    assert not {"embed", "embedder"} & attack.settings().keys()


def test_a_network_is_small_or_pretrained() -> None:
    attack = Vec2Text(inverter="acme/inverter")
    assert not attack.is_small("inverter")
    assert attack.is_small("corrector")
