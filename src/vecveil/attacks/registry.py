"""The attacks by name, and how one is made from a name and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecveil.attacks.attack import Attack
from vecveil.core.registry import Registry, build

ATTACKS: Registry[type[Attack]] = Registry(
    kind="attack",
    builtin={
        "averaging": "vecveil.attacks.averaging:Averaging",
        "boosted": "vecveil.attacks.boosted:Boosted",
        "geia": "vecveil.attacks.geia:Geia",
        "mlc": "vecveil.attacks.mlc:Mlc",
        "nearest": "vecveil.attacks.nearest:NearestNeighbour",
        "vec2text": "vecveil.attacks.vec2text:Vec2Text",
    },
    group="vecveil.attacks",
)


def build_attack(name: str, settings: Mapping[str, Any] | None = None) -> Attack:
    """Return the attack registered as `name`, with `settings` over its defaults."""
    return build(ATTACKS, name, settings or {})
