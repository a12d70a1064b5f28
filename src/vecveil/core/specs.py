"""Specs of components as users write them: `geia:priors/minilm,steps=0`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vecveil.core.errors import InvalidInputError

# Only what reads like the start of a setting ends what came before it, so that lists and file names may hold commas.
_COMMA = re.compile(r",(?=\s*[A-Za-z_]\w*\s*=)")
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A component as a user names it.

    Attributes:
        name: Name of the component.
        target: What follows the colon: a file, a folder, a name; None without a colon.
        settings: By name; JSON values as what they are, anything else as a string, lists as tuples.
    """

    name: str
    target: str | None
    settings: Mapping[str, Any]


def parse_spec(text: str, kind: str) -> Spec:
    """Return the parts of `NAME[:TARGET][,setting=value…]`.

    Args:
        text: What the user wrote.
        kind: What is named, for errors.
    """
    head, *parts = _COMMA.split(text)
    name, colon, target = (part.strip() for part in head.partition(":"))
    if not _NAME.fullmatch(name) or (colon and not target):
        raise InvalidInputError(f"{text!r} names no {kind}: write NAME, NAME:TARGET or NAME:TARGET,setting=value")
    settings: dict[str, Any] = {}
    for part in parts:
        key, _, value = (piece.strip() for piece in part.partition("="))
        if not value:
            raise InvalidInputError(f"setting {key!r} of the {kind} {name!r} has no value, got {text!r}")
        if key in settings:
            raise InvalidInputError(f"setting {key!r} of the {kind} {name!r} is given twice, got {text!r}")
        settings[key] = _value(value)
    return Spec(name=name, target=target if colon else None, settings=settings)


def _value(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=str)
    except ValueError:
        return text
    return tuple(value) if isinstance(value, list) else value
