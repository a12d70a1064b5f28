"""Nested settings as lines of name and value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecveil.reports.cells import NOTHING


def fact_lines(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return every value with the way to it: {"noise": {"seed": 0}} is ("noise · seed", "0")."""
    return tuple((" · ".join(path), shown) for path, shown in _lines(facts, ()))


def _lines(value: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
    if isinstance(value, Mapping) and value:
        return [line for key, part in value.items() for line in _lines(part, (*path, _named(str(key))))]
    if isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value):
        return [line for place, part in enumerate(value, start=1) for line in _lines(part, (*path, str(place)))]
    return [(path, _shown(value))]


def _named(key: str) -> str:
    return key.replace("_", " ")


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.6g}"
        case list() | tuple():
            return ", ".join(_shown(part) for part in value) or NOTHING
        case _:
            return str(value) if value else NOTHING
