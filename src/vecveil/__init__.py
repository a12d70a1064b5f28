"""vecveil: private text embeddings.

Name what is private, learn which directions of an embedding model carry it, and protect vectors with noise of a
stated guarantee, strong along those directions and weak elsewhere.

    import vecveil as vv

    concept = vv.terms("diabetes", "hypertension") | vv.entities("PERSON", "GPE")
    veil = vv.learn(concept, texts, embedder="minilm", shape="hard-concrete")
    safe = veil.protect(texts, epsilon=400.0)
    print(veil.guarantee(epsilon=400.0))
    veil.save("patients.veil")
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vecveil.accounting import Dials, EuclideanBounds, Guarantee, GuaranteeSheet
    from vecveil.concepts import (
        Concept,
        ContrastSet,
        Passage,
        Span,
        annotated,
        anything,
        contrast_set,
        entities,
        load_concept,
        patterns,
        presidio,
        terms,
    )
    from vecveil.core.errors import VecveilError
    from vecveil.embedders import Embedder, Fingerprint, PrecomputedEmbedder, resolve_embedder
    from vecveil.mechanisms import Mechanism
    from vecveil.shapes import ContrastPairs, NoiseShape
    from vecveil.veil import Guard, ProtectReport, Veil, learn, protect_file, read_passages

    __version__: str

__all__ = [
    "Concept",
    "ContrastPairs",
    "ContrastSet",
    "Dials",
    "Embedder",
    "EuclideanBounds",
    "Fingerprint",
    "Guarantee",
    "GuaranteeSheet",
    "Guard",
    "Mechanism",
    "NoiseShape",
    "Passage",
    "PrecomputedEmbedder",
    "ProtectReport",
    "Span",
    "VecveilError",
    "Veil",
    "__version__",
    "annotated",
    "anything",
    "contrast_set",
    "entities",
    "learn",
    "load_concept",
    "patterns",
    "presidio",
    "protect_file",
    "read_passages",
    "resolve_embedder",
    "terms",
]

_HOMES = {
    "vecveil.accounting": (
        "Dials",
        "EuclideanBounds",
        "Guarantee",
        "GuaranteeSheet",
    ),
    "vecveil.concepts": (
        "Concept",
        "ContrastSet",
        "Passage",
        "Span",
        "annotated",
        "anything",
        "contrast_set",
        "entities",
        "load_concept",
        "patterns",
        "presidio",
        "terms",
    ),
    "vecveil.core.errors": ("VecveilError",),
    "vecveil.embedders": (
        "Embedder",
        "Fingerprint",
        "PrecomputedEmbedder",
        "resolve_embedder",
    ),
    "vecveil.mechanisms": ("Mechanism",),
    "vecveil.shapes": (
        "ContrastPairs",
        "NoiseShape",
    ),
    "vecveil.veil": (
        "Guard",
        "ProtectReport",
        "Veil",
        "learn",
        "protect_file",
        "read_passages",
    ),
}
"""Where each name is from. Each is loaded when it is first asked for: to start takes as little as it can."""


def __getattr__(name: str) -> Any:
    """Return a name of the package, or one of its parts."""
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("vecveil")
    else:
        home = next((home for home, names in _HOMES.items() if name in names), None)
        if home is not None:
            found = getattr(import_module(home), name)
        elif not name.startswith("_") and find_spec(f"vecveil.{name}") is not None:
            found = import_module(f"vecveil.{name}")
        else:
            raise AttributeError(f"module 'vecveil' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return the names of the package."""
    return sorted({*globals(), *__all__})
