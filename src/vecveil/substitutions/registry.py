"""Substitutions by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry, build
from vecveil.substitutions.substitution import Substitution

SUBSTITUTIONS: Registry[type[Substitution]] = Registry(
    kind="substitution",
    builtin={
        "keep": "vecveil.substitutions.plain:Keep",
        "placeholder": "vecveil.substitutions.plain:Placeholder",
        "randomize": "vecveil.substitutions.randomize:Randomize",
        "remove": "vecveil.substitutions.plain:Remove",
    },
    group="vecveil.substitutions",
)

DEFAULT_SUBSTITUTION = "remove"


def build_substitution(name: str, settings: Mapping[str, Any] | None = None) -> Substitution:
    """Return the substitution registered as `name`, with `settings` over its defaults."""
    return build(SUBSTITUTIONS, name, settings or {})


def substitution_from_settings(settings: Any) -> Substitution:
    """Return the substitution whose `settings()` these are, as a veil keeps them."""
    if not isinstance(settings, Mapping) or not isinstance(settings.get("name"), str):
        raise InvalidInputError(f"a substitution is a table with a name, got {type(settings).__name__}")
    return build_substitution(settings["name"], {key: value for key, value in settings.items() if key != "name"})
