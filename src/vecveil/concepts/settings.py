"""A concept's fields as a TOML table, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from vecveil.concepts.concept import Concept

_EXPECTED: Mapping[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a string"),
    str | None: ((str,), "a string"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    tuple[str, ...]: ((list, tuple), "a list of strings"),
    Mapping[str, Any]: ((Mapping,), "a table"),
}


def settings_of(concept: Concept) -> dict[str, Any]:
    """Return the kind and the fields of a concept that differ from their defaults, with kebab-case keys."""
    table: dict[str, Any] = {"kind": concept.kind}
    for name, declared in _fields(type(concept)).items():
        value = getattr(concept, declared.name)
        if value != declared.default:
            table[name] = list(value) if isinstance(value, tuple) else value
    return table


def keywords_of(concept: type[Concept], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a TOML table as keywords for `concept`, checked by name and type."""
    checked_keys(concept, settings)
    types = get_type_hints(concept)
    keywords = {}
    for key, declared in _fields(concept).items():
        if key in settings:
            keywords[declared.name] = checked_value(settings[key], types[declared.name], key)
        elif declared.default is MISSING:
            raise InvalidInputError(f"setting {key!r} is missing")
    return keywords


def checked_keys(concept: type[Concept], settings: Mapping[str, Any], *, extra: Iterable[str] = ()) -> None:
    """Raise, with the nearest guess, for a key that is neither a field of `concept` nor in `extra`."""
    known = {*_fields(concept), *extra}
    for key in settings:
        one_of(key, known, "setting")


def checked_value(value: Any, expected: Any, key: str) -> Any:
    """Return `value` as `expected`, a type that a TOML value can have, or raise with the name of the key."""
    types, description = _EXPECTED[expected]
    # In Python true is a whole number too; in a settings file it is a slip.
    fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    if not fits:
        raise InvalidInputError(f"setting {key!r} must be {description}, got {type(value).__name__}")
    if expected == tuple[str, ...]:
        for number, item in enumerate(value, start=1):
            if not isinstance(item, str):
                raise InvalidInputError(
                    f"setting {key!r} must be {description}, got {type(item).__name__} as item {number}"
                )
        return tuple(value)
    return float(value) if expected is float else value


def checked_names(values: Iterable[str], name: str, *, allow_none: bool = False) -> tuple[str, ...]:
    """Return `values` as a tuple, or raise unless they are strings with something in them.

    Args:
        values: Terms or labels; an error gives the position of the one at fault, never its content.
        name: What one of them is called.
        allow_none: Whether there may be no values at all.
    """
    if isinstance(values, str):
        raise InvalidInputError(f"expected a tuple with every {name} as a string, got one string")
    names = tuple(values)
    if not names and not allow_none:
        raise InvalidInputError(f"at least one {name} is needed, got none")
    for number, value in enumerate(names, start=1):
        if not isinstance(value, str):
            raise InvalidInputError(f"{name} {number} must be a string, got {type(value).__name__}")
        if not value.strip():
            raise InvalidInputError(f"{name} {number} of {len(names)} is blank")
    return names


def _fields(concept: type[Concept]) -> dict[str, Field[Any]]:
    # Every concept is a dataclass, but that cannot be said in the type of an abstract class.
    return {declared.name.replace("_", "-"): declared for declared in fields(cast(Any, concept))}
