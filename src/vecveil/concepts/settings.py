"""Fields of a concept as a TOML table, and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError

_EXPECTED: Mapping[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a string"),
    str | None: ((str,), "a string"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    tuple[str, ...]: ((list, tuple), "a list of strings"),
    Mapping[str, Any]: ((Mapping,), "a table"),
    Mapping[str, str | Sequence[str]]: ((Mapping,), "a table"),
}


def to_settings(concept: Any) -> dict[str, Any]:
    """Return the kind and the fields of a concept that differ from their defaults, with kebab-case keys."""
    table: dict[str, Any] = {"kind": concept.kind}
    for key, field in _fields_by_key(type(concept)).items():
        value = getattr(concept, field.name)
        if value != field.default:
            table[key] = _to_plain(value)
    return table


def to_keywords(concept: type[Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a TOML table as keywords for `concept`, checked by name and type."""
    check_keys(concept, settings)
    types = get_type_hints(concept)
    keywords = {}
    for key, field in _fields_by_key(concept).items():
        if key in settings:
            keywords[field.name] = check_value(settings[key], types[field.name], key)
        elif field.default is MISSING:
            raise InvalidInputError(f"setting {key!r} is missing")
    return keywords


def check_keys(concept: type[Any], settings: Mapping[str, Any], *, extra: Iterable[str] = ()) -> None:
    """Raise, with the nearest guess, for a key that is neither a field of `concept` nor in `extra`."""
    known = {*_fields_by_key(concept), *extra}
    for key in settings:
        one_of(key, known, "setting")


def check_value(value: Any, expected: Any, key: str) -> Any:
    """Return `value` as `expected`, a type that a TOML value can have, or raise with the name of the key."""
    types, description = _EXPECTED[expected]
    # In Python true is a whole number too; in a settings file it is a slip.
    fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    if not fits:
        raise InvalidInputError(f"setting {key!r} must be {description}, got {type(value).__name__}")
    if expected == tuple[str, ...]:
        for number, item in enumerate(value, start=1):
            if not isinstance(item, str):
                found = f"{type(item).__name__} as item {number}"
                raise InvalidInputError(f"setting {key!r} must be {description}, got {found}")
        return tuple(value)
    if expected == Mapping[str, str | Sequence[str]]:
        lists = {label: [given] if isinstance(given, str) else given for label, given in value.items()}
        return {label: check_value(given, tuple[str, ...], f"{key}.{label}") for label, given in lists.items()}
    return float(value) if expected is float else value


def check_names(values: Iterable[str], name: str, *, allow_none: bool = False) -> tuple[str, ...]:
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


def _to_plain(value: Any) -> Any:
    """Return `value` with lists for tuples, and for a list of one pattern the pattern itself."""
    if isinstance(value, Mapping):
        return {label: given[0] if len(given) == 1 else list(given) for label, given in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _fields_by_key(concept: type[Any]) -> dict[str, Field[Any]]:
    return {field.name.replace("_", "-"): field for field in fields(concept)}
