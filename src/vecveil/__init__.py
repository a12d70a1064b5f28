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

from importlib.metadata import version

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

__version__ = version("vecveil")

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
