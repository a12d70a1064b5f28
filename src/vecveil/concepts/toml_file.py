r"""Concepts as TOML files.

    name = "disease and age"            # optional

    [[part]]
    kind = "terms"
    terms = ["diabetes", "asthma"]      # or file = "diseases.txt", one term a line
    label = "DISEASE"

    [[part]]
    kind = "patterns"
    patterns = { AGE = '\d+ years old' }

A part has a kind from the registry and that kind's settings, with hyphens for underscores.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vecveil.concepts.concept import Concept, Union
from vecveil.concepts.content_words import ContentWords
from vecveil.concepts.settings import check_value
from vecveil.core.checks import one_of
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.registry import Registry
from vecveil.core.texts import strip_controls

CONCEPTS: Registry[type[Concept]] = Registry(
    kind="concept",
    builtin={
        "annotated": "vecveil.concepts.annotated:Annotated",
        "content-words": "vecveil.concepts.content_words:ContentWords",
        "entities": "vecveil.concepts.entities:Entities",
        "patterns": "vecveil.concepts.patterns:Patterns",
        "presidio": "vecveil.concepts.presidio:Presidio",
        "terms": "vecveil.concepts.terms:Terms",
        "token-classification": "vecveil.concepts.token_classification:TokenClassification",
    },
    group="vecveil.concepts",
)
"""Each is a `Concept` class whose `kind` is the name it is registered under."""

ANYTHING = Path("anything")
"""Stands for every content word where there is no file of that name."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def load_concept(path: str | Path) -> Concept:
    """Return the concept that a TOML file describes; `anything`, where no file has that name, is every content word.

    >>> from vecveil.samples import concept_path
    >>> [span.label for span in load_concept(concept_path()).find("A 61-year-old woman with asthma.")]
    ['AGE', 'DISEASE']

    Raises:
        ArtifactError: When the file cannot be read or is not TOML.
        InvalidInputError: When it does not describe a concept.
    """
    path = Path(path)
    if path == ANYTHING and not path.exists():
        return ContentWords()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ArtifactError(f"there is no concept file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"cannot read the concept file {path}: {type(error).__name__}") from None
    return parse_concept(text, folder=path.parent, source=str(path))


def parse_concept(text: str, *, folder: Path, source: str = "concept") -> Concept:
    """Return the concept that a TOML document describes.

    Args:
        text: The document.
        folder: What the paths in it are relative to.
        source: What to call it in an error.
    """
    try:
        return _build_concept(tomllib.loads(text), folder)
    except RecursionError:
        raise ArtifactError(f"{source} is nested too deep") from None
    except tomllib.TOMLDecodeError as error:
        raise ArtifactError(f"{source} is not valid TOML: {error}") from None
    except InvalidInputError as error:
        raise InvalidInputError(f"{source}: {error}") from None


def concept_from_settings(settings: Mapping[str, Any], *, folder: Path) -> Concept:
    """Return the concept whose `settings()` these are, as a veil keeps them where it was asked to."""
    return _build_concept(settings if "part" in settings else {"part": [dict(settings)]}, folder)


def dump_concept(concept: Concept) -> str:
    """Return the TOML document that `load_concept` reads back as `concept`. Holds private terms."""
    settings = concept.settings()
    blocks = [f"name = {_to_toml(concept.name)}\n"] if concept.name else []
    for part in settings["part"] if isinstance(concept, Union) else [settings]:
        lines = ["[[part]]", *(f"{_to_toml_key(key)} = {_to_toml(value)}" for key, value in part.items())]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _build_concept(document: Mapping[str, Any], folder: Path) -> Concept:
    for key in document:
        one_of(key, {"name", "part"}, "key")
    name = check_value(document.get("name", ""), str, "name")
    _require_printable([name])
    tables = document.get("part", [])
    if not isinstance(tables, list):
        raise InvalidInputError(f"'part' must be a list of tables, each under [[part]], got {type(tables).__name__}")
    if not tables:
        raise InvalidInputError("no parts; a concept needs at least one [[part]]")
    parts = tuple(_parse_part(table, number, folder) for number, table in enumerate(tables, start=1))
    return Union(parts=parts, name=name) if name or len(parts) > 1 else parts[0]


def _require_printable(labels: object) -> None:
    """Raise where a label is nothing to print: a terminal would obey it."""
    if isinstance(labels, list):
        for one in labels:
            _require_printable(one)
    elif isinstance(labels, str) and strip_controls(labels) != labels:
        raise InvalidInputError("a name or label holds control characters")


def _parse_part(table: Any, number: int, folder: Path) -> Concept:
    try:
        settings = dict(check_value(table, Mapping[str, Any], "part"))
        patterns = settings.get("patterns")
        named = [*patterns] if isinstance(patterns, Mapping) else []
        _require_printable([settings.get("label"), settings.get("labels"), *named])
        return _load_kind(settings.pop("kind", None)).from_settings(settings, folder)
    except InvalidInputError as error:
        raise InvalidInputError(f"part {number}: {error}") from None


def _load_kind(name: Any) -> type[Concept]:
    if name is None:
        raise InvalidInputError(f"setting 'kind' is missing (known: {', '.join(CONCEPTS.names())})")
    return CONCEPTS.load(check_value(name, str, "kind"))


def _to_toml_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _to_toml(key)


def _to_toml(value: Any) -> str:
    if isinstance(value, str):
        # A JSON string is a TOML string, but for the one control character that JSON leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_to_toml, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_to_toml_key(key)} = {_to_toml(each)}' for key, each in value.items())} }}"
    return repr(value)
