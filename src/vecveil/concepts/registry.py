"""The kinds of concept by name."""

from __future__ import annotations

from vecveil.concepts.concept import Concept
from vecveil.core.registry import Registry

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
